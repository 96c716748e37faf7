import MediaCore
import RTP

/// Turns what was counted of the streams of one track into statistics. Pure.
struct OutboundMeter: Sendable {
  /// What was counted of one stream.
  struct Count: Sendable {
    var ssrc: SSRC
    var sent: RTPSender.Statistics
    var layer: SentLayer
  }

  private struct Last: Sendable {
    var time: MediaTime
    var bytes: [SSRC: Int]
    var leftOut: [SSRC: Int]
  }

  private var last: Last?

  /// - Parameter age: how old the last statistics have to be.
  func isDue(at time: MediaTime, after age: Duration) -> Bool { last.map { time - $0.time >= age } ?? true }

  /// - Parameters:
  ///   - counts: of the streams of each codec.
  ///   - timestamp: milliseconds since 1970.
  mutating func report(
    _ counts: [[Count]], isVideo: Bool, at time: MediaTime, timestamp: Double
  ) -> [TrackStatistics] {
    let before = last
    last = Last(
      time: time, bytes: Dictionary(counts.joined().map { ($0.ssrc, $0.sent.bytesSent) }) { $1 },
      leftOut: Dictionary(counts.joined().map { ($0.ssrc, $0.layer.leftOut) }) { $1 })
    let elapsed = before.map { (time - $0.time).seconds } ?? 0
    func report(_ count: Count) -> OutboundRtpStreamStatistics {
      let (sent, layer) = (count.sent, count.layer)
      return OutboundRtpStreamStatistics(
        id: "outbound-\(count.ssrc.rawValue)", timestamp: timestamp, kind: isVideo ? "video" : "audio",
        ssrc: UInt(count.ssrc.rawValue), rid: layer.rid.isEmpty ? nil : layer.rid,
        packetsSent: UInt64(sent.packetsSent + sent.packetsRetransmitted),
        bytesSent: UInt64(sent.bytesSent + sent.bytesRetransmitted),
        retransmittedPacketsSent: UInt64(sent.packetsRetransmitted),
        retransmittedBytesSent: UInt64(sent.bytesRetransmitted),
        bps: Bitrate.average(
          bytes: sent.bytesSent - (before?.bytes[count.ssrc] ?? sent.bytesSent), seconds: elapsed),
        targetBitrate: layer.bitrate.map(Double.init),
        frameWidth: layer.size.map { UInt(clamping: $0.width) },
        frameHeight: layer.size.map { UInt(clamping: $0.height) },
        qualityLimitationReason: isVideo ? reason(count, before, elapsed) : nil,
        nackCount: UInt(sent.nackRequests), pliCount: isVideo ? UInt(sent.keyframeRequests) : nil,
        active: layer.bitrate != nil)
    }
    return counts.map { TrackStatistics(outboundRtp: $0.map(report)) }
  }

  /// Now and then a frame is left out by any machine.
  private func reason(_ count: Count, _ before: Last?, _ seconds: Double) -> QualityLimitationReason {
    let leftOut = count.layer.leftOut - (before?.leftOut[count.ssrc] ?? count.layer.leftOut)
    if Double(leftOut) > seconds { return .cpu }
    return count.layer.isWanted && count.layer.isLimited ? .bandwidth : .none
  }
}
