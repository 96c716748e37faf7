import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

/// A receive pipeline with what comes out of it.
private struct Receiver {
  let pipeline: Pipeline
  let source: AppSource
  let readings = Collector<(reading: NumberedFrame.Reading?, at: MediaTime, pts: MediaTime?)>()
  let keyframeRequests = Collector<MediaTime>()
  let errors: Collector<PipelineError>

  init(_ codec: String, latency: Int = 200) throws {
    pipeline = try Shipped.receiver(codec, "frames", ["latency": "\(latency)"])
    errors = GStreamerKitTests.errors(of: pipeline)
    source = try pipeline.appSource(named: "rtp")
    let (readings, requests) = (readings, keyframeRequests)
    try pipeline.onKeyframeRequest(atSourceNamed: "rtp") { requests.add(.now) }
    try pipeline.appSink(
      named: "frames",
      onBuffer: { media in
        let arrival = MediaTime.now
        readings.add((VideoFrameBuffer(media).flatMap(NumberedFrame.read), arrival, media.pts))
      })
  }

  func push(_ packets: [TestPacket]) { for packet in packets { source.push(packet.buffer, dts: .now) } }

  /// 25 frames a second: the jitter buffer judges what is late by how fast the packets come.
  func pushAtPace(_ frames: ArraySlice<[TestPacket]>) async throws {
    let start = ContinuousClock.now
    for (index, frame) in frames.enumerated() {
      push(frame)
      try await Task.sleep(until: start + .milliseconds(40 * (index + 1)))
    }
  }

  var numbers: [Int] { readings.values.compactMap { $0.reading?.number } }
}

@Suite(.serialized) struct ReceiveTests {
  @Test(arguments: ["vp8", "vp9", "h264", "av1"]) func framesComeOutAsTheyWentIn(_ codec: String) async throws {
    let frames = try await TestStream.video(codec, count: 50)
    let receiver = try Receiver(codec)
    try receiver.pipeline.start()
    for frame in frames { receiver.push(frame) }
    try await receiver.pipeline.sendEndOfStream()
    #expect(await receiver.pipeline.stop())
    #expect(receiver.errors.values.isEmpty)
    #expect(receiver.numbers == Array(0..<50))
    for entry in receiver.readings.values { #expect((entry.reading?.meanError ?? 99) < 6) }
    #expect(receiver.source.counters.dropped == 0)
  }

  /// With a jitter buffer of five seconds, whatever comes out quickly has not waited in it.
  @Test(arguments: ["vp8", "vp9", "h264", "av1"]) func packetsInOrderDoNotWait(_ codec: String) async throws {
    let frames = try await TestStream.video(codec, count: 10)
    let receiver = try Receiver(codec, latency: 5000)
    try receiver.pipeline.start()
    let start = MediaTime.now
    for (index, frame) in frames.enumerated() {
      receiver.push(frame)
      let readings = receiver.readings
      try await eventually("frame \(index)", within: .seconds(4)) { readings.count > index }
    }
    #expect((MediaTime.now - start).seconds < 4)
    #expect(await receiver.pipeline.stop())
  }

  @Test(arguments: ["vp8", "vp9", "h264", "av1"])
  func aMissingPacketIsWaitedForAndThenAKeyframeIsWanted(_ codec: String) async throws {
    let frames = try await TestStream.video(codec, count: 60)
    let receiver = try Receiver(codec, latency: 300)
    try receiver.pipeline.start()
    let readings = receiver.readings
    try await receiver.pushAtPace(frames[..<10])
    try await eventually("ten frames") { readings.count == 10 }
    let requestsBefore = receiver.keyframeRequests.count
    let lossAt = MediaTime.now
    receiver.push(Array(frames[10].dropFirst()))
    try await receiver.pushAtPace(frames[11..<20])
    let requests = receiver.keyframeRequests
    try await eventually("a request for a keyframe") { requests.count > requestsBefore }
    let waited = try #require(requests.values.last) - lossAt
    #expect(waited.seconds > 0.2 && waited.seconds < 3)
    for frame in frames[20...] { receiver.push(frame) }
    try await receiver.pipeline.sendEndOfStream()
    // Nothing between the loss and the keyframe (every thirty frames) is shown.
    #expect(receiver.numbers == Array(0..<10) + Array(30..<60))
    #expect(await receiver.pipeline.stop())
    for entry in readings.values { #expect((entry.reading?.meanError ?? 99) < 6) }
  }

  @Test func aLatePacketWithinTheLatencyCostsNothing() async throws {
    let frames = try await TestStream.video("vp8", count: 20)
    let receiver = try Receiver("vp8", latency: 5000)
    try receiver.pipeline.start()
    for (index, frame) in frames.enumerated() where index != 10 { receiver.push(frame) }
    let readings = receiver.readings
    try await eventually("the frames before the gap") { readings.count == 10 }
    receiver.push(frames[10])
    try await eventually("all frames") { readings.count == 20 }
    #expect(receiver.numbers == Array(0..<20))
    #expect(await receiver.pipeline.stop())
  }

  @Test func aStreamThatBeginsWithoutAKeyframeAsksForOne() async throws {
    let frames = try await TestStream.video("vp8", count: 35)
    let receiver = try Receiver("vp8")
    try receiver.pipeline.retimestamp(elementNamed: "jitter") { _ in nil }
    try receiver.pipeline.start()
    for frame in frames[5...] { receiver.push(frame) }
    try await receiver.pipeline.sendEndOfStream()
    #expect(receiver.keyframeRequests.count >= 1)
    #expect(receiver.numbers == Array(30..<35))
    #expect(await receiver.pipeline.stop())
  }

  @Test func aStreamThatBeginsWithAKeyframeAsksForNone() async throws {
    let frames = try await TestStream.video("vp8", count: 10)
    let receiver = try Receiver("vp8")
    try receiver.pipeline.retimestamp(elementNamed: "jitter") { _ in nil }
    try receiver.pipeline.start()
    for frame in frames { receiver.push(frame) }
    try await receiver.pipeline.sendEndOfStream()
    #expect(receiver.keyframeRequests.count == 0)
    #expect(receiver.numbers == Array(0..<10))
    #expect(await receiver.pipeline.stop())
  }

  @Test func timesComeFromTheGivenTimeline() async throws {
    let frames = try await TestStream.video("vp8", count: 10)
    let first = try #require(frames.first?.first).timestamp
    let origin = MediaTime(nanoseconds: 7_000_000_000)
    let receiver = try Receiver("vp8")
    try receiver.pipeline.retimestamp(elementNamed: "jitter") { timestamp in
      origin + .nanoseconds(Int64(timestamp &- first) * 1_000_000_000 / 90_000)
    }
    try receiver.pipeline.start()
    for frame in frames { receiver.push(frame) }
    try await receiver.pipeline.sendEndOfStream()
    #expect(await receiver.pipeline.stop())
    let times = receiver.readings.values.compactMap { $0.pts }
    #expect(times == (0..<10).map { origin + .milliseconds(40 * $0) })
  }

  @Test func opusBecomesStereoAt48Kilohertz() async throws {
    let packets = try await TestStream.audio(count: 50)
    let pipeline = try Shipped.receiver("opus", "pcm")
    let source = try pipeline.appSource(named: "rtp")
    let heard = Collector<(frames: Int, crossings: Int, format: AudioBuffer.SampleFormat, rate: Int, channels: Int)>()
    try pipeline.appSink(
      named: "pcm",
      onBuffer: { media in
        guard let audio = AudioBuffer(media) else { return }
        let crossings = audio.withInt16Samples { samples in
          (1..<audio.frameCount).count { samples[2 * $0 - 2] < 0 && samples[2 * $0] >= 0 }
        }
        heard.add((audio.frameCount, crossings ?? 0, audio.sampleFormat, audio.sampleRate, audio.channelCount))
      })
    try pipeline.start()
    // One packet is missing and made up for.
    for (index, packet) in packets.enumerated() where index != 25 { source.push(packet.buffer, dts: .now) }
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    #expect(heard.values.allSatisfy { $0.format == .s16 && $0.rate == 48_000 && $0.channels == 2 })
    let seconds = Double(heard.values.reduce(0) { $0 + $1.frames }) / 48_000
    #expect(abs(seconds - 1) < 0.08)
    let pitch = Double(heard.values.reduce(0) { $0 + $1.crossings }) / seconds
    #expect(abs(pitch - 440) < 25)
  }
}
