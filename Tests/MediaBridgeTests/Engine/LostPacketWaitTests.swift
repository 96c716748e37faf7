import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// How long a track's jitter buffer waits for what is lost.
@Suite struct LostPacketWaitTests {
  private func packet(_ number: UInt16, isRetransmission: Bool = false) -> RTPPacket {
    let media: [UInt8] = [0x10, number == 1 ? 0 : 1, 2, 3]
    return RTPPacket(
      payloadType: PayloadType(isRetransmission ? 97 : 96), sequenceNumber: SequenceNumber(number),
      timestamp: UInt32(number) * 3600, ssrc: SSRC(isRetransmission ? 11 : 10), marker: true,
      payload: isRetransmission ? [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] + media : media)
  }

  /// The wait in milliseconds before and after a packet was lost and came again.
  private func waits(roundTrip: Duration, latency: Int?) async throws -> [Int?] {
    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/VP8"]]))
    var configuration = RTPReceiver.Configuration(track)
    configuration.usesNACK = true
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: configuration, onOtherCodec: { _ in }, onStream: { _ in })
    let pipeline = try ReceivePipeline(
      factory: PipelineFactory(folder: nil), template: "vp8", isVideo: true, payloadType: PayloadType(96),
      latency: latency, clock: { _ in nil }, onKeyframeNeeded: {})
    let jitter = try pipeline.pipeline.element(named: "jitter")
    var time = MediaTime.now
    reception.attach(pipeline, at: time)
    let before = jitter.int("latency")
    for number in 1...5 as ClosedRange<UInt16> {
      if number != 3 { reception.receive(packet(number), at: time) }
      _ = reception.poll(at: time)
      if number < 5 { time = time + .milliseconds(40) }
    }
    time = time + roundTrip
    reception.receive(packet(3, isRetransmission: true), at: time)
    _ = reception.poll(at: time)
    await pipeline.stop()
    return [before, jitter.int("latency")]
  }

  @Test func itIsAsLongAsRetransmissionsTake() async throws {
    #expect(try await waits(roundTrip: .milliseconds(80), latency: nil) == [200, 10 + 2 * (96 + 5) + 80])
    #expect(try await waits(roundTrip: .milliseconds(5), latency: nil) == [200, 150])
  }

  @Test func theTemplatesOrTheCallersMaximumHolds() async throws {
    #expect(try await waits(roundTrip: .milliseconds(300), latency: nil) == [200, 500])
    #expect(try await waits(roundTrip: .milliseconds(80), latency: 100) == [100, 100])
  }
}
