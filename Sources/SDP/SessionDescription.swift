/// A session description (RFC 8866) as WebRTC peers exchange it; attributes without a place here are kept as text.
public struct SessionDescription: Equatable, Sendable {
  /// The `o=` line; the rest of it is the same for everyone in WebRTC.
  public struct Origin: Equatable, Sendable {
    /// `-`, as everyone in WebRTC writes.
    public var username = "-"
    /// Below 2⁶³ (RFC 8829, 5.2.1).
    public var sessionID: UInt64
    /// Grows by one with each description that differs from the one before (RFC 8829, 5.2.2).
    public var sessionVersion: UInt64
    /// Network type, address type and address.
    public var address = "IN IP4 127.0.0.1"

    /// - Parameter sessionVersion: one more than that of the description before.
    public init(sessionID: UInt64, sessionVersion: UInt64) {
      self.sessionID = sessionID
      self.sessionVersion = sessionVersion
    }
  }

  /// Mids that belong together (RFC 5888, 6).
  public struct Group: Equatable, Sendable {
    /// `BUNDLE`, `LS` or what else was written.
    public var semantics: String
    /// The names of the sections.
    public var mids: [String]

    /// - Parameter mids: of `BUNDLE`, the first carries the transport.
    public init(semantics: String, mids: [String]) {
      self.semantics = semantics
      self.mids = mids
    }
  }

  /// Who wrote it, and which version of it.
  public var origin: Origin
  /// The `s=` line; `-` in WebRTC.
  public var name = "-"
  /// `t=`, without the letter.
  public var timing = "0 0"
  /// The `c=` line, without the letter; nil where sections have their own.
  public var connection: String?
  /// Bounds for all sections together.
  public var bandwidth: [Bandwidth] = []
  /// Which sections belong together.
  public var groups: [Group] = []
  /// `a=msid-semantic`, after the colon.
  public var msidSemantic: String?
  /// The same for all sections: see `MediaSection.extmapAllowMixed`.
  public var extmapAllowMixed = false
  /// Whether the writer only answers checks (RFC 8839, 5.3).
  public var iceLite = false
  /// Defaults for the media sections; see `transport(of:)`.
  public var transport = TransportAttributes()
  /// Attribute lines without a place above, without `a=`.
  public var otherAttributes: [String] = []
  /// In the order of the m-lines.
  public var media: [MediaSection] = []

  /// A description without sections.
  public init(origin: Origin) { self.origin = origin }

  /// The mids of the first BUNDLE group; nil without such a group (RFC 9143, 7.1).
  public var bundle: [String]? { groups.first { $0.semantics == "BUNDLE" }?.mids }

  /// What `section` says about its transport, completed by the session's values.
  public func transport(of section: MediaSection) -> TransportAttributes { section.transport.withFallback(transport) }

  /// The section of that name; nil without one.
  public func section(mid: String) -> MediaSection? { media.first { $0.mid == mid } }

  /// The section whose transport carries the bundle: the first of the group that is not rejected, and in a description
  /// without a group the first that is not rejected (RFC 9143, 7.2).
  var bundleSection: MediaSection? {
    let live = media.filter { !$0.isRejected }
    guard let bundle else { return live.first }
    let byMid = Dictionary(live.compactMap { section in section.mid.map { ($0, section) } }) { first, _ in first }
    return bundle.lazy.compactMap { byMid[$0] }.first
  }

  /// The transport of `bundleSection`.
  public var bundleTransport: TransportAttributes? { bundleSection.map(transport(of:)) }
}
