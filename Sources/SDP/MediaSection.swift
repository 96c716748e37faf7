public import MediaCore

/// An m-line and everything up to the next one (RFC 8866, 5.14).
public struct MediaSection: Equatable, Sendable {
  /// The `media` field of an m-line.
  public enum Kind: Hashable, Sendable {
    /// RTP with audio.
    case audio
    /// RTP with video.
    case video
    /// Data channels.
    case application
    /// Another word, as it was written.
    case other(String)

    /// From the word in the m-line.
    public init(_ text: String) {
      switch text {
      case "audio": self = .audio
      case "video": self = .video
      case "application": self = .application
      default: self = .other(text)
      }
    }

    /// The word in the m-line.
    public var text: String {
      switch self {
      case .audio: "audio"
      case .video: "video"
      case .application: "application"
      case .other(let text): text
      }
    }
  }

  /// What the section carries.
  public var kind: Kind
  /// Without a meaning where ICE is used, but for 0: see `isRejected`.
  public var port: UInt16
  /// The `proto` field: `UDP/TLS/RTP/SAVPF`, `UDP/DTLS/SCTP`.
  public var proto: String
  /// The formats of a section that carries no RTP (`webrtc-datachannel`); empty otherwise, see `codecs`.
  public var formats: [String] = []
  /// In the order of the m-line, which is the order of preference.
  public var codecs: [Codec] = []
  /// `c=`, without the letter.
  public var connection: String?
  /// Bounds on what the writer wants to receive.
  public var bandwidth: [Bandwidth] = []
  /// The name of the section within the description (RFC 5888, 4).
  public var mid: String?
  /// `sendrecv` where nothing was written.
  public var direction: Direction = .sendrecv
  /// In the order in which they were written.
  public var headerExtensions: [HeaderExtension] = []
  /// Whether packets may mix the one-byte and the two-byte form (RFC 8285, 6).
  public var extmapAllowMixed = false
  /// The streams that the section's track belongs to.
  public var msids: [MediaStreamID] = []
  /// The announced sources; none where streams are found by header extensions.
  public var sources: [SourceDescription] = []
  /// Which of the sources belong together.
  public var sourceGroups: [SourceGroup] = []
  /// The streams that are named by identifiers.
  public var rids: [RestrictionID] = []
  /// The layers; nil for a single stream.
  public var simulcast: Simulcast?
  /// What this section itself says; `SessionDescription.transport(of:)` adds the session's values.
  public var transport = TransportAttributes()
  /// Each as in `candidate:FOUNDATION COMPONENT …`, which is also what trickle ICE signals.
  public var candidates: [String] = []
  /// Whether no more candidates follow (RFC 8840).
  public var endOfCandidates = false
  /// Whether RTCP shares the port of RTP (RFC 5761).
  public var rtcpMux = false
  /// Whether RTCP packets may be sent alone, without a report (RFC 5506).
  public var rtcpRsize = false
  /// The section has no address of its own and lives in the bundle, in spite of its port 0 (RFC 9143, 6).
  public var bundleOnly = false
  /// RFC 8841, 5.
  public var sctpPort: UInt16?
  /// In bytes; 0 means without limit (RFC 8841, 6).
  public var maxMessageSize: UInt64?
  /// Attribute lines without a place above, without `a=`.
  public var otherAttributes: [String] = []

  /// A section that sends and receives, without formats.
  public init(kind: Kind, port: UInt16 = 9, proto: String = MediaSection.rtpProtocol) {
    self.kind = kind
    self.port = port
    self.proto = proto
  }

  /// Media: SRTP keyed by DTLS (RFC 5764).
  public static let rtpProtocol = "UDP/TLS/RTP/SAVPF"
  /// Data channels: SCTP over DTLS (RFC 8841).
  static let sctpProtocol = "UDP/DTLS/SCTP"

  /// Port 0 outside a bundle-only section means that the section is refused or stopped (RFC 8829, 5.3.1).
  public var isRejected: Bool { port == 0 && !bundleOnly }
  /// Whether it is about media.
  var carriesRTP: Bool { proto.utf8.contains(.slash) && proto.contains("RTP/") }
  /// Whether it is about data channels.
  public var isDataChannels: Bool { kind == .application && proto.hasSuffix("DTLS/SCTP") }

  /// The stream and track, from `a=msid` or, as older peers write them, from the first source that names them.
  public var msid: MediaStreamID? { msids.first ?? sources.lazy.compactMap(\.msid).first }

  /// The format of a payload type; nil where the section does not have it.
  public func codec(_ payloadType: PayloadType) -> Codec? { codecs.first { $0.payloadType == payloadType } }
  /// The extension of a URI; nil where the section does not have it.
  public func headerExtension(_ uri: String) -> HeaderExtension? { headerExtensions.first { $0.uri == uri } }
}
