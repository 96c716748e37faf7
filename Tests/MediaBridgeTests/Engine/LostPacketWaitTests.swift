import BridgeTesting
import Foundation
import MediaCore
import MediaPipelines
import RTP
import Testing

@testable import MediaBridge

/// How long what is lost is waited for.
@Suite struct LostPacketWaitTests {
  private func packet(_ number: UInt16, isRetransmission: Bool = false) -> RTPPacket {
    let media: [UInt8] = [0x10, number == 1 ? 0 : 1, 2, 3]
    return RTPPacket(
      payloadType: PayloadType(isRetransmission ? 97 : 96), sequenceNumber: SequenceNumber(number),
      timestamp: UInt32(number) * 3600, ssrc: SSRC(isRetransmission ? 11 : 10), marker: true,
      payload: isRetransmission ? [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] + media : media)
  }

  /// The wait in milliseconds before and after a packet was lost and came again.
  /// - Parameters:
  ///   - times: how often.
  ///   - template: its text; nil for the shipped one.
  private func waits(
    roundTrip: Duration, times: UInt16 = 1, latency: Int?, template: String? = nil
  ) async throws -> [Int?] {
    let folder = try TemporaryFolder()
    if let template {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/receive", withIntermediateDirectories: true)
      try Data(template.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/receive/vp8.pipeline"))
    }
    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/VP8"]]))
    var configuration = RTPReceiver.Configuration(track)
    configuration.usesNACK = true
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: configuration, onOtherCodec: { _ in }, onStream: { _ in })
    let pipeline = try ReceivePipeline(
      factory: PipelineFactory(folder: folder.path), template: "vp8",
      values: latency.map { ["latency": "\($0)"] } ?? [:], isVideo: true, payloadType: PayloadType(96),
      to: TrackOutputs(isVideo: true, onKeyframeNeeded: {}), clock: { _ in nil }, onKeyframeNeeded: {})
    let jitter = try? pipeline.pipeline.element(named: "jitter")
    #expect((jitter != nil) == (template != nil))
    let wait = { jitter?.int("latency") ?? reception.feed.map { Int($0.waitTime.nanoseconds / 1_000_000) } }
    let start = MediaTime.now
    reception.attach(pipeline, at: start)
    let before = wait()
    for round in 0..<times {
      var time = start
      for number in round * 5 + 1...round * 5 + 5 {
        time = start + .milliseconds(40) * Int(number)
        if number % 5 != 3 { reception.receive(packet(number), at: time) }
        _ = reception.poll(at: time)
      }
      reception.receive(packet(round * 5 + 3, isRetransmission: true), at: time + roundTrip)
      _ = reception.poll(at: time + roundTrip)
    }
    await pipeline.stop()
    return [before, wait()]
  }

  @Test func itIsAsLongAsRetransmissionsTake() async throws {
    #expect(try await waits(roundTrip: .milliseconds(120), latency: nil) == [350, 10 + 3 * (144 + 5)])
    // A little less is not worth a change, and one that comes soon says little.
    for roundTrip in [5, 80] {
      #expect(try await waits(roundTrip: .milliseconds(roundTrip), latency: nil) == [350, 350])
    }
    #expect(try await waits(roundTrip: .milliseconds(5), times: 40, latency: nil) == [350, 150])
  }

  /// A jitter buffer with settings of its own is told.
  @Test func anElementOfTheTemplateIsToldOfIt() async throws {
    let template = """
      # Never holds more than its latency.
      appsrc name=rtp caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
      ! rtpjitterbuffer name=jitter latency=${latency:-250} drop-on-latency=true ! rtpvp8depay
      ! tee name=media allow-not-linked=true
      media. ! appsink name=encoded sync=false async=false
      """
    #expect(
      try await waits(roundTrip: .milliseconds(80), latency: nil, template: template) == [250, 250])
    #expect(
      try await waits(roundTrip: .milliseconds(5), times: 40, latency: nil, template: template) == [250, 150])
  }

  @Test func theTemplatesOrTheCallersMaximumHolds() async throws {
    #expect(try await waits(roundTrip: .milliseconds(300), latency: nil) == [350, 500])
    #expect(try await waits(roundTrip: .milliseconds(80), latency: 100) == [100, 100])
  }

  /// Whoever hears it while it comes would hear a pause; a file has time for a repair that is far away.
  @Test func audioIsWaitedForShorterWhileSomebodyHearsIt() async throws {
    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(.audio, sid: "TR_AM"), mids: [:], codecs: ["TR_AM": ["audio/opus"]]))
    var configuration = RTPReceiver.Configuration(track)
    configuration.usesNACK = true
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: configuration, onOtherCodec: { _ in }, onStream: { _ in })
    let pipelines = try (0..<2).map { _ in
      try ReceivePipeline(
        factory: PipelineFactory(folder: nil), template: "opus", values: [:], isVideo: false,
        payloadType: PayloadType(111), to: TrackOutputs(isVideo: false, onKeyframeNeeded: {}), clock: { _ in nil },
        onKeyframeNeeded: {})
    }
    let wait = {
      _ = reception.poll(at: .now)
      return reception.feed?.waitTime
    }
    reception.attach(pipelines[0], at: .now)
    #expect(wait() == RepairWait.unmeasured)
    reception.decodingBegins(isFirst: true)
    #expect(wait() == .milliseconds(100))
    reception.attach(pipelines[1], at: .now)
    reception.detach(pipelines[0])
    #expect(wait() == .milliseconds(100), "another one has taken over")
    for pipeline in pipelines { await pipeline.stop() }
  }
}
