import MediaCore
import RTP
import Testing

@testable import MediaBridge

@Suite struct InboundMeterTests {
  private func sample(_ seconds: Double, _ edit: (inout InboundMeter.Sample) -> Void = { _ in }) -> InboundMeter.Sample
  {
    var sample = InboundMeter.Sample(
      time: MediaTime(nanoseconds: Int64(seconds * 1e9)), timestamp: seconds * 1000,
      reception: ReceptionStatistics(
        rtp: .init(), framesReceived: 0, framesDropped: 0, isFlowing: true, ssrc: SSRC(7), rtxSSRC: SSRC(8), mid: "1",
        codec: "VP8", payloadType: PayloadType(96)), decoder: .init(), roundTrip: nil)
    edit(&sample)
    return sample
  }

  private func arrived(_ seconds: Double, bytes: Int) -> InboundMeter.Sample {
    sample(seconds) { $0.reception.rtp.bytesReceived = bytes }
  }

  @Test func bitsAreOfTheTimeSinceTheReportBefore() {
    var meter = InboundMeter(trackSid: "TR_1", isVideo: true)
    #expect(meter.report(arrived(10, bytes: 5000)).bps == 0)
    #expect(meter.report(arrived(12, bytes: 255_000)).bps == 1_000_000)
    let last = meter.report(arrived(12.5, bytes: 267_500))
    #expect(last.bps == 200_000 && last.formattedBps() == "200 kbps" && last.bytesReceived == 267_500)
    #expect(meter.report(arrived(13.5, bytes: 267_500)).formattedBps() == "0 bps")
  }

  @Test func whatIsNewWaits() {
    var meter = InboundMeter(trackSid: "TR_1", isVideo: true)
    #expect(meter.isDue(at: sample(10).time, after: .milliseconds(500)))
    _ = meter.report(sample(10))
    #expect(!meter.isDue(at: sample(10.25).time, after: .milliseconds(500)))
    #expect(meter.isDue(at: sample(10.5).time, after: .milliseconds(500)))
  }

  /// A track that goes over to another session goes on from where it was.
  @Test func everyCountOfAnEarlierSessionIsAdded() {
    var reception = sample(1).reception
    let counts: [WritableKeyPath<RTPReceiver.Statistics, Int>] = [
      \.packetsReceived, \.bytesReceived, \.packetsLost, \.packetsRecovered, \.packetsDuplicated,
      \.paddingPackets, \.packetsDiscarded, \.retransmissionsReceived, \.retransmittedBytes, \.nackRequests,
      \.nackedPackets, \.keyframeRequests, \.keyframesReceived,
    ]
    for count in counts { reception.rtp[keyPath: count] = 1 }
    let sum = MediaCounts(reception: reception, decoder: .init()).added(to: reception).rtp
    for (name, count) in Mirror(reflecting: sum).children where count is Int {
      #expect(count as? Int == 2, "\(name ?? "")")
    }
  }

  @Test func countsHaveTheirStandardNames() {
    var meter = InboundMeter(trackSid: "TR_1", isVideo: true)
    let inbound = meter.report(
      sample(1) { sample in
        sample.reception.rtp.packetsReceived = 1
        sample.reception.rtp.packetsLost = 2
        sample.reception.rtp.packetsDiscarded = 3
        sample.reception.rtp.retransmissionsReceived = 4
        sample.reception.rtp.retransmittedBytes = 5
        sample.reception.rtp.nackRequests = 6
        sample.reception.rtp.nackedPackets = 66
        sample.reception.rtp.keyframeRequests = 7
        sample.reception.rtp.jitter = 0.008
        sample.reception.framesReceived = 9
        sample.reception.framesDropped = 10
        sample.roundTrip = .milliseconds(11)
      })
    #expect(inbound.packetsReceived == 1 && inbound.packetsLost == 2 && inbound.packetsDiscarded == 3)
    #expect(inbound.retransmittedPacketsReceived == 4 && inbound.retransmittedBytesReceived == 5)
    #expect(inbound.nackCount == 6 && inbound.pliCount == 7 && inbound.jitter == 0.008)
    #expect(inbound.framesReceived == 9 && inbound.framesDropped == 10 && inbound.roundTripTime == 0.011)
    #expect(inbound.ssrc == 7 && inbound.rtxSsrc == 8 && inbound.mid == "1" && inbound.payloadType == 96)
    #expect(inbound.mimeType == "video/VP8" && inbound.kind == "video" && inbound.trackIdentifier == "TR_1")
    #expect(inbound.timestamp == 1000 && inbound.audioLevel == nil && inbound.totalAudioEnergy == nil)
  }

  @Test func framesOfTheLastSecond() {
    func decoded(_ seconds: Double, _ count: Int) -> InboundMeter.Sample {
      sample(seconds) { $0.decoder.framesDecoded = count }
    }
    var meter = InboundMeter(trackSid: "TR_1", isVideo: true)
    #expect(meter.report(decoded(1, 0)).framesPerSecond == nil)
    #expect(meter.report(decoded(2, 0)).framesPerSecond == nil)
    #expect(meter.report(decoded(4, 50)).framesPerSecond == 25)
    #expect(meter.report(decoded(5, 50)).framesPerSecond == 0)
  }

  @Test func theLevelIsOfTheLastSecondAndOnlyOfAudio() {
    func heard(_ seconds: Double, _ samples: [Int16]...) -> InboundMeter.Sample {
      sample(seconds) { sample in
        for samples in samples {
          samples.withUnsafeBufferPointer { sample.decoder.audio.add($0, channelCount: 1, sampleRate: 1) }
        }
      }
    }
    var meter = InboundMeter(trackSid: "TR_2", isVideo: false)
    #expect(meter.report(heard(1)).audioLevel == nil)
    #expect(meter.report(heard(2, [16384])).audioLevel == 0.5)
    let last = meter.report(heard(3, [16384], [0]))
    #expect(last.audioLevel == 0 && last.totalAudioEnergy == 0.25 && last.totalSamplesDuration == 2)
    #expect(last.totalSamplesReceived == 2 && last.kind == "audio")
    #expect(last.pliCount == nil && last.framesReceived == nil && last.freezeCount == nil)
  }
}
