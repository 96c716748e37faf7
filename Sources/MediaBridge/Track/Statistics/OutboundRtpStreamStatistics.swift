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
  /// RTP packets sent, retransmissions among them.
  public let packetsSent: UInt64?
  /// Bytes of payload sent.
  public let bytesSent: UInt64?
  /// Bits of payload a second over the last interval, about a second.
  public let bps: UInt64

  /// `bps` for people, such as `1.2 Mbps`, `950 kbps` or `0 bps`.
  public func formattedBps() -> String { Bitrate.text(bps) }
}
