import BridgeTesting
import GStreamerKit
import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// Audio behind a gap, of which it shows a little later whether its sender paused or the network stalled.
@Suite struct HeldAudioTests {
  /// The way of a track of Opus, 20 ms a packet, into the shipped template, on a clock of the test's.
  private struct Run {
    let reception: TrackReception
    let pipeline: ReceivePipeline
    private let start = MediaTime.now
    private let times = Collector<MediaTime>()
    private let consumer: MediaConsumer

    init() async throws {
      let track = try #require(
        OfferedTrack(
          try OfferedTrackTests().section(.audio, sid: "TR_AM"), mids: [:], codecs: ["TR_AM": ["audio/opus"]]))
      let outputs = TrackOutputs(isVideo: false, onKeyframeNeeded: {})
      let pipeline = try ReceivePipeline(
        factory: PipelineFactory(folder: nil), template: "opus", values: [:], isVideo: false,
        payloadType: PayloadType(111), to: outputs, clock: { _ in nil }, onKeyframeNeeded: {})
      self.pipeline = pipeline
      outputs.begin(pipeline)
      let times = times
      consumer = MediaConsumer(onFailure: { _ in }, onBuffer: { media in media.pts.map(times.add) })
      try outputs.add(consumer, to: .encoded)
      await withCheckedContinuation { continuation in pipeline.whenSettled { continuation.resume() } }
      let clock = ParticipantClock()
      clock.add(track.sid, clockRate: 48_000, isVideo: false)
      reception = TrackReception(
        track, clock: clock, configuration: RTPReceiver.Configuration(track), onOtherCodec: { _ in },
        onStream: { _ in })
      reception.attach(pipeline, at: start)
    }

    /// - Parameter milliseconds: since the start.
    func receive(_ number: Int, at milliseconds: Int) {
      let packet = RTPPacket(
        payloadType: PayloadType(111), sequenceNumber: SequenceNumber(UInt16(number)), timestamp: UInt32(number * 960),
        ssrc: SSRC(10), payload: [0xfc, 0xff, 0xfe])
      reception.receive(packet, at: start + .milliseconds(milliseconds))
      reception.flush()
    }

    func poll(at milliseconds: Int) { _ = reception.poll(at: start + .milliseconds(milliseconds)) }

    /// When what waits goes on, in milliseconds since the start.
    var deadline: Int? { reception.feed?.nextDeadline.map(milliseconds) }

    /// Where what has gone on was placed.
    var places: [Int] { times.values.map(milliseconds) }

    private func milliseconds(_ time: MediaTime) -> Int { Int((time - start).nanoseconds / 1_000_000) }
  }

  /// Two seconds in which nothing is sent, which the timestamps do not count.
  private func pause(_ run: Run, before packets: Int) -> [Int] {
    for number in 0..<50 { run.receive(number, at: number * 20) }
    for number in 50..<50 + packets { run.receive(number, at: 2000 + number * 20) }
    return (0..<50 + packets).map { $0 < 50 ? $0 * 20 : 2000 + $0 * 20 }
  }

  @Test func speechBehindAPauseIsPlacedFromItsFirstPacketOn() async throws {
    let run = try await Run()
    let places = pause(run, before: 25)
    #expect(run.places == Array(places.prefix(50)) && run.deadline == 3500)
    run.receive(75, at: 3500)
    #expect(run.places == places + [3500] && run.deadline == nil)
    await run.pipeline.stop()
  }

  @Test func aFewWordsBehindAPauseGoOnWithoutAnotherPacket() async throws {
    let run = try await Run()
    let places = pause(run, before: 15)
    run.poll(at: 3499)
    #expect(run.places == Array(places.prefix(50)) && run.deadline == 3500)
    run.poll(at: 3500)
    #expect(run.places == places && run.deadline == nil)
    await run.pipeline.stop()
  }

  /// It is in time for whoever waits for late audio, and where it belongs.
  @Test func whatAStallHeldBackGoesOnAtOnce() async throws {
    let run = try await Run()
    for number in 0..<50 { run.receive(number, at: number * 20) }
    for number in 50..<100 { run.receive(number, at: 1980) }
    #expect(run.places == (0..<100).map { $0 * 20 } && run.deadline == nil)
    await run.pipeline.stop()
  }
}
