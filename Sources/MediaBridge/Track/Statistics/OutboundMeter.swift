import MediaCore
import RTP

/// Turns what was counted of the streams of one track into statistics. Pure.
struct OutboundMeter: Sendable {
  /// What was counted of one stream.
  struct Count: Sendable {
    var ssrc: SSRC
    var sent: RTPSender.Statistics
  }

  private var last: (time: MediaTime, bytes: [SSRC: Int])?

  /// - Parameter age: how old the last statistics have to be.
  func isDue(at time: MediaTime, after age: Duration) -> Bool { last.map { time - $0.time >= age } ?? true }

  /// - Parameter timestamp: milliseconds since 1970.
  mutating func report(
    _ counts: [Count], isVideo: Bool, at time: MediaTime, timestamp: Double
  ) -> [OutboundRtpStreamStatistics] {
    let before = last
    last = (time, Dictionary(counts.map { ($0.ssrc, $0.sent.bytesSent) }) { $1 })
    return counts.map { count in
      let sent = count.sent
      return OutboundRtpStreamStatistics(
        id: "outbound-\(count.ssrc.rawValue)", timestamp: timestamp, kind: isVideo ? "video" : "audio",
        ssrc: UInt(count.ssrc.rawValue), packetsSent: UInt64(sent.packetsSent + sent.packetsRetransmitted),
        bytesSent: UInt64(sent.bytesSent + sent.bytesRetransmitted),
        bps: Bitrate.average(
          bytes: sent.bytesSent - (before?.bytes[count.ssrc] ?? sent.bytesSent),
          seconds: before.map { (time - $0.time).seconds } ?? 0))
    }
  }
}
