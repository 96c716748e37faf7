public import MediaCore

/// An m-line and everything up to the next one (RFC 8866, 5.14).
public struct MediaSection: Equatable, Sendable {
  public enum Kind: Hashable, Sendable {
    case audio, video, application
    case other(String)

    public init(_ text: String) {
      switch text {
      case "audio": self = .audio
      case "video": self = .video
      case "application": self = .application
      default: self = .other(text)
      }
    }

    public var text: String {
      switch self {
      case .audio: "audio"
      case .video: "video"
      case .application: "application"
      case .other(let text): text
      }
    }
  }

  public var kind: Kind
  public var port: UInt16
  /// The `proto` field: `UDP/TLS/RTP/SAVPF`, `UDP/DTLS/SCTP`.
  public var proto: String
  /// The formats of a section that carries no RTP (`webrtc-datachannel`); empty otherwise, see `codecs`.
  public var formats: [String] = []
  /// In the order of the m-line, which is the order of preference.
  public var codecs: [Codec] = []
  /// `c=`, without the letter.
  public var connection: String?
  public var bandwidth: [Bandwidth] = []
  public var mid: String?
  public var direction: Direction = .sendrecv
  public var headerExtensions: [HeaderExtension] = []
  public var extmapAllowMixed = false
  public var msids: [MediaStreamID] = []
  public var sources: [SourceDescription] = []
  public var sourceGroups: [SourceGroup] = []
  public var rids: [RestrictionID] = []
  public var simulcast: Simulcast?
  /// What this section itself says; `SessionDescription.transport(of:)` adds the session's values.
  public var transport = TransportAttributes()
  /// Each as in `candidate:FOUNDATION COMPONENT …`, which is also what trickle ICE signals; see `ICECandidate`.
  public var candidates: [String] = []
  public var endOfCandidates = false
  public var rtcpMux = false
  public var rtcpRsize = false
  /// The section has no address of its own and lives in the bundle, in spite of its port 0 (RFC 9143, 6).
  public var bundleOnly = false
  /// RFC 8841, 5.
  public var sctpPort: UInt16?
  /// In bytes; 0 means without limit (RFC 8841, 6).
  public var maxMessageSize: UInt64?
  /// Attribute lines without a place above, without `a=`.
  public var otherAttributes: [String] = []

  public init(kind: Kind, port: UInt16 = 9, proto: String = MediaSection.rtpProtocol) {
    self.kind = kind
    self.port = port
    self.proto = proto
  }

  public static let rtpProtocol = "UDP/TLS/RTP/SAVPF"
  public static let sctpProtocol = "UDP/DTLS/SCTP"

  /// Port 0 outside a bundle-only section means that the section is refused or stopped (RFC 8829, 5.3.1).
  public var isRejected: Bool { port == 0 && !bundleOnly }
  public var carriesRTP: Bool { proto.utf8.contains(.slash) && proto.contains("RTP/") }
  public var isDataChannels: Bool { kind == .application && proto.hasSuffix("DTLS/SCTP") }

  /// The stream and track, from `a=msid` or, as older peers write them, from the first source that names them.
  public var msid: MediaStreamID? { msids.first ?? sources.lazy.compactMap(\.msid).first }

  public func codec(_ payloadType: PayloadType) -> Codec? { codecs.first { $0.payloadType == payloadType } }
  /// The RTX source of a media source, by its FID group (RFC 4588, 8.3).
  public func rtxSource(of ssrc: SSRC) -> SSRC? {
    sourceGroups.first { $0.semantics == "FID" && $0.ssrcs.count == 2 && $0.ssrcs[0] == ssrc }?.ssrcs[1]
  }
  public func headerExtension(_ uri: String) -> HeaderExtension? { headerExtensions.first { $0.uri == uri } }
}
