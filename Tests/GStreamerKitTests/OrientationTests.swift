import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

/// How frames are to be turned, from the packets to whoever shows or stores them.
@Suite(.serialized) struct OrientationTests {
  /// Turned a little further every five frames, and from the fortieth on no more.
  private func turns(of number: Int) -> Int { min(number, 40) / 5 % 4 }

  /// What becomes of `count` frames whose last packets tell their orientation where it changes.
  private func run(
    _ codec: String, output: String, count: Int = 50, shuffled: Bool = false
  ) async throws -> [MediaBuffer] {
    let frames = try await TestStream.video(codec, count: count)
    let numbers = Dictionary(frames.enumerated().map { ($1[0].timestamp, $0) }) { first, _ in first }
    let pipeline = try Shipped.receiver(codec, output, ["latency": "2000"])
    let errors = errors(of: pipeline)
    let source = try pipeline.appSource(named: "rtp")
    let media = Collector<MediaBuffer>()
    try pipeline.appSink(named: output) { media.add($0) }
    try pipeline.tagOrientation(elementNamed: "jitter") { bytes in
      guard bytes[1] & 0x80 != 0 else { return nil }
      let timestamp = bytes[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
      return numbers[timestamp].flatMap { $0 % 5 == 0 ? turns(of: $0) : nil }
    }
    try pipeline.start()
    for (number, frame) in frames.enumerated() {
      // A stream begins with its first packet.
      for packet in shuffled && number > 0 ? frame.reversed() : frame { source.push(packet.buffer, dts: .now) }
    }
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
    return media.values
  }

  @Test(arguments: ["vp8", "vp9", "h264"]) func everyFrameHasItsOwn(_ codec: String) async throws {
    let media = try await run(codec, output: "frames")
    let numbers = media.compactMap { VideoFrameBuffer($0).flatMap(NumberedFrame.read)?.number }
    #expect(numbers == Array(0..<50))
    #expect(media.map(\.quarterTurns) == numbers.map(turns))
  }

  @Test(arguments: ["vp8", "vp9", "h264"]) func soHaveThoseThatStayEncoded(_ codec: String) async throws {
    let media = try await run(codec, output: "encoded")
    #expect(media.map(\.quarterTurns) == (0..<50).map(turns))
  }

  @Test func packetsOutOfOrderAreReadInOrder() async throws {
    let media = try await run("vp8", output: "frames", shuffled: true)
    #expect(media.map(\.quarterTurns) == (0..<50).map(turns))
  }

  /// From one pipeline into the next, as a recording goes.
  @Test func whoeverTurnsFramesIsTold() async throws {
    let text =
      "appsrc name=in max-bytes=0 caps=video/x-raw ! videoflip video-direction=auto ! appsink name=out sync=false"
    let pipeline = try Pipeline(description: text, name: "upright")
    let source = try pipeline.appSource(named: "in")
    let turned = Collector<VideoFrameBuffer>()
    try pipeline.appSink(named: "out") { media in VideoFrameBuffer(media).map { turned.add($0) } }
    try pipeline.start()
    let media = try await run("vp8", output: "frames", count: 20)
    for frame in media { source.push(frame) }
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    let portrait = turned.values.map { $0.height > $0.width }
    #expect(portrait == (0..<20).map { turns(of: $0) % 2 == 1 })
    // The number stands in a row at the top: turned clockwise it runs down the right edge.
    let seventh = try #require(turned.values.dropFirst(7).first)
    let column = seventh.withPlanes { planes in
      planes[0].map { plane in (0..<16).map { plane.bytes[($0 * 20 + 10) * plane.stride + plane.width - 10] > 125 } }
    }
    #expect(column == (0..<16).map { 7 >> $0 & 1 == 1 })
  }

  /// Frames are large: one that is upright goes on as it is.
  @Test(arguments: ["auto", "identity"]) func whoTurnsNothingCopiesNothing(_ direction: String) async throws {
    let text =
      "appsrc name=in max-bytes=0 caps=video/x-raw ! videoflip video-direction=\(direction) ! appsink name=out sync=false"
    let pipeline = try Pipeline(description: text, name: "upright")
    let source = try pipeline.appSource(named: "in")
    let passed = Collector<VideoFrameBuffer>()
    try pipeline.appSink(named: "out") { media in VideoFrameBuffer(media).map { passed.add($0) } }
    try pipeline.start()
    let frame = try #require(MediaBuffer.blackFrame(width: 64, height: 48).flatMap(VideoFrameBuffer.init))
    source.push(frame.media, pts: .now)
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    let address = { (frame: VideoFrameBuffer) in frame.withPlanes { $0[0]?.bytes.baseAddress } }
    #expect(passed.values.map(address) == [address(frame)])
  }
}
