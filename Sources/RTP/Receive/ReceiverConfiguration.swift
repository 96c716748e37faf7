public import Bitstream
public import MediaCore

extension RTPReceiver {
  /// What packets of a payload type are.
  public enum Format: Sendable, Equatable {
    /// Media of which nothing more needs to be known, such as audio.
    case media
    /// Video whose keyframes are recognised, so that a request for one is repeated until it comes.
    case video(VideoCodec)
    /// RFC 4588: packets of `of` once more.
    case retransmission(of: PayloadType)
    /// RFC 2198: media with earlier media.
    case redundant
  }

  /// What is negotiated of a stream, and how it is repaired.
  public struct Configuration: Sendable {
    /// The stream; nil takes the first that comes.
    public var ssrc: SSRC?
    /// The stream that carries the retransmissions; nil takes it by its payload type.
    public var rtxSSRC: SSRC?
    /// Ticks of the RTP timestamp per second.
    public var clockRate: UInt32
    /// What is expected; packets of other types are discarded. Empty takes everything for media.
    public var formats: [PayloadType: Format]
    /// Whether packets that are missing are asked for again.
    public var usesNACK: Bool
    /// Whether a stream that cannot be repaired may ask for a keyframe.
    public var usesPLI: Bool
    /// Who the reports come from; libwebrtc says 1 where it sends nothing itself.
    public var sender: SSRC
    /// Between two reception reports (RFC 3550, 6.2).
    public var reportInterval: Duration

    /// - Parameter usesPLI: nil says yes where one of the formats is video.
    public init(
      ssrc: SSRC? = nil, rtxSSRC: SSRC? = nil, clockRate: UInt32, formats: [PayloadType: Format] = [:],
      usesNACK: Bool = false, usesPLI: Bool? = nil, sender: SSRC = SSRC(1), reportInterval: Duration = .seconds(1)
    ) {
      self.ssrc = ssrc
      self.rtxSSRC = rtxSSRC
      self.clockRate = max(clockRate, 1)
      self.formats = formats
      self.usesNACK = usesNACK
      self.usesPLI = usesPLI ?? formats.values.contains { if case .video = $0 { true } else { false } }
      self.sender = sender
      self.reportInterval = reportInterval
    }
  }
}

/// The formats by payload type, found without hashing.
struct FormatTable: Sendable {
  private var formats: [RTPReceiver.Format?]
  /// Whether retransmissions are of a format of their own (RFC 4588), or come as they were.
  let tellRetransmissions: Bool

  init(_ formats: [PayloadType: RTPReceiver.Format]) {
    self.formats = Array(repeating: formats.isEmpty ? .media : nil, count: 128)
    for (type, format) in formats { self.formats[Int(type.rawValue)] = format }
    tellRetransmissions = formats.values.contains { if case .retransmission = $0 { true } else { false } }
  }

  subscript(type: PayloadType) -> RTPReceiver.Format? { formats[Int(type.rawValue)] }
}
