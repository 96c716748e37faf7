/// How a stream is sent, under the names of "Identifiers for WebRTC's Statistics API". Counts are since it began.
public struct OutboundRtpStreamStatistics: Hashable, Sendable {
  /// The same for all statistics of one stream.
  public let id: String
  /// When it was so: milliseconds since 1970 (UTC).
  public let timestamp: Double
  /// `audio` or `video`.
  public let kind: String
  /// The stream's source, as RTP names it.
  public let ssrc: UInt?
  /// The name of the layer; nil for one alone.
  public let rid: String?
  /// RTP packets sent, retransmissions among them.
  public let packetsSent: UInt64?
  /// Bytes of payload sent.
  public let bytesSent: UInt64?
  /// Packets that were sent again.
  public let retransmittedPacketsSent: UInt64?
  /// Bytes of payload that were sent again.
  public let retransmittedBytesSent: UInt64?
  /// Bits of payload a second over the last interval, about a second.
  public let bps: UInt64
  /// What it is encoded for, in bits a second; nil while it is not sent.
  public let targetBitrate: Double?
  /// Of the frames that are sent; nil for audio, and for what is sent as its source carries it.
  public let frameWidth: UInt?
  /// As `frameWidth`.
  public let frameHeight: UInt?
  /// Why it does not have all that it is meant for; nil for audio.
  public let qualityLimitationReason: QualityLimitationReason?
  /// How often the server asked for packets again.
  public let nackCount: UInt?
  /// How often the server asked for a keyframe; nil for audio.
  public let pliCount: UInt?
  /// Whether it is sent: somebody receives it, and the link has room for it.
  public let active: Bool?

  /// `bps` for people, such as `1.2 Mbps`, `950 kbps` or `0 bps`.
  public func formattedBps() -> String { Bitrate.text(bps) }
}

/// Why a stream is not sent as well as it could be, as WebRTC's statistics say it.
public enum QualityLimitationReason: String, Sendable {
  /// It is.
  case none
  /// The machine is too slow: frames are left out, more than one a second.
  case cpu
  /// The link to the server carries no more.
  case bandwidth
  /// Something else.
  case other
}
