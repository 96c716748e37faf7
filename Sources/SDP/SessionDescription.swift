/// A session description (RFC 8866) as WebRTC peers exchange it; attributes without a place here are kept as text.
public struct SessionDescription: Equatable, Sendable {
  /// The `o=` line; the rest of it is the same for everyone in WebRTC.
  public struct Origin: Equatable, Sendable {
    public var username = "-"
    public var sessionID: UInt64
    /// Grows by one with each description that differs from the one before (RFC 8829, 5.2.2).
    public var sessionVersion: UInt64
    /// Network type, address type and address.
    public var address = "IN IP4 127.0.0.1"

    public init(sessionID: UInt64, sessionVersion: UInt64) {
      self.sessionID = sessionID
      self.sessionVersion = sessionVersion
    }
  }

  /// Mids that belong together (RFC 5888, 6).
  public struct Group: Equatable, Sendable {
    public var semantics: String
    public var mids: [String]

    public init(semantics: String, mids: [String]) {
      self.semantics = semantics
      self.mids = mids
    }
  }

  public var origin: Origin
  public var name = "-"
  /// `t=`, without the letter.
  public var timing = "0 0"
  public var connection: String?
  public var bandwidth: [Bandwidth] = []
  public var groups: [Group] = []
  /// `a=msid-semantic`, after the colon.
  public var msidSemantic: String?
  public var extmapAllowMixed = false
  public var iceLite = false
  /// Defaults for the media sections; see `transport(of:)`.
  public var transport = TransportAttributes()
  /// Attribute lines without a place above, without `a=`.
  public var otherAttributes: [String] = []
  public var media: [MediaSection] = []

  public init(origin: Origin) { self.origin = origin }

  /// The mids of the first BUNDLE group; nil without such a group (RFC 9143, 7.1).
  public var bundle: [String]? { groups.first { $0.semantics == "BUNDLE" }?.mids }

  /// What `section` says about its transport, completed by the session's values.
  public func transport(of section: MediaSection) -> TransportAttributes { section.transport.withFallback(transport) }

  public func section(mid: String) -> MediaSection? { media.first { $0.mid == mid } }

  /// The section whose transport carries the bundle: the first of the group that is not rejected, and in a description
  /// without a group the first that is not rejected (RFC 9143, 7.2).
  public var bundleSection: MediaSection? {
    let live = media.filter { !$0.isRejected }
    guard let bundle else { return live.first }
    let byMid = Dictionary(live.compactMap { section in section.mid.map { ($0, section) } }) { first, _ in first }
    return bundle.lazy.compactMap { byMid[$0] }.first
  }

  /// The transport of `bundleSection`.
  public var bundleTransport: TransportAttributes? { bundleSection.map(transport(of:)) }
}
