import MediaCore
import RTP
import Testing

@testable import MediaBridge

@Suite("Statistics of what is sent")
struct OutboundMeterTests {
  /// Of one layer, a second after another.
  private static func reasons(leftOut: [Int], isLimited: Bool = false) -> [QualityLimitationReason] {
    var meter = OutboundMeter()
    return leftOut.enumerated().compactMap { second, leftOut in
      let layer = SentLayer(rid: "", bitrate: 100_000, isWanted: true, isLimited: isLimited, leftOut: leftOut)
      let count = OutboundMeter.Count(ssrc: SSRC(1), sent: RTPSender.Statistics(), layer: layer)
      let time = MediaTime(nanoseconds: 0) + .seconds(second)
      return meter.report([[count]], isVideo: true, at: time, timestamp: 0).first?.outboundRtpStream.first?
        .qualityLimitationReason
    }
  }

  @Test func aSlowMachineIsTheReasonWhileItLeavesFramesOut() {
    #expect(Self.reasons(leftOut: [3, 3, 4, 9, 9]) == [.none, .none, .none, .cpu, .none])
  }

  @Test func anythingElseIsTheLink() {
    #expect(Self.reasons(leftOut: [0, 0, 5], isLimited: true) == [.bandwidth, .bandwidth, .cpu])
  }
}
