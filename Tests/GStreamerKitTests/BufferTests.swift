import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

@Suite struct BufferTests {
  private func passThrough(
    _ description: String, _ feed: (AppSource) -> Void
  ) async throws -> (buffers: [MediaBuffer], counters: AppSource.Counters) {
    let pipeline = try Pipeline(description: description, name: "test")
    let buffers = Collector<MediaBuffer>()
    let source = try pipeline.appSource(named: "in")
    try pipeline.appSink(named: "out", onBuffer: { buffers.add($0) })
    try pipeline.start()
    feed(source)
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    return (buffers.values, source.counters)
  }

  @Test func aPartOfAPacketGoesThroughWithItsTimes() async throws {
    let packet = PacketBuffer(copying: 0..<100)
    let result = try await passThrough("appsrc name=in ! appsink name=out sync=false") { source in
      let time = MediaTime(nanoseconds: 1_000)
      #expect(source.push(packet, start: 10, count: 5, pts: time, dts: time, discontinuity: true) == .queued)
      #expect(source.push(packet, start: 98, count: 5, dts: nil) == .refused)
      #expect(source.push(packet, start: -1, dts: nil) == .refused)
      #expect(source.push(packet, start: 101, dts: nil) == .refused)
      #expect(source.push(packet, start: .max, count: .max, dts: nil) == .refused)
    }
    let buffer = try #require(result.buffers.first)
    #expect(result.buffers.count == 1)
    #expect(buffer.withUnsafeBytes { Array($0) } == [10, 11, 12, 13, 14])
    #expect(buffer.size == 5 && buffer.isDiscontinuous && !buffer.isDelta)
    #expect(buffer.pts == MediaTime(nanoseconds: 1_000) && buffer.dts == MediaTime(nanoseconds: 1_000))
    // The bytes are the packet's own.
    let address = packet.withUnsafeBytes { $0.baseAddress }
    #expect(buffer.withUnsafeBytes { $0.baseAddress } == address.map { $0 + 10 })
    #expect(result.counters.buffers == 1 && result.counters.bytes == 5 && result.counters.dropped == 0)
  }

  @Test func packetsPushedTogetherStayInOrder() async throws {
    let times = (0..<10).map { MediaTime(nanoseconds: 1_000 + $0) }
    let result = try await passThrough("appsrc name=in max-buffers=100 ! appsink name=out sync=false") { source in
      source.push(PacketBuffer(copying: [100]), dts: times[0])
      let packets = (1..<10).map { number in
        AppSource.Packet(PacketBuffer(copying: [0, UInt8(number), 0]), start: 1, count: 1, dts: times[number])
      }
      let misshapen = AppSource.Packet(PacketBuffer(copying: [1]), start: 1, count: 5, dts: times[0])
      #expect(source.push(packets + [misshapen]) == .queued)
      #expect(source.push([AppSource.Packet]()) == .queued)
    }
    #expect(result.buffers.map { $0.withUnsafeBytes { $0.first } } == [100, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(result.buffers.map(\.dts) == times)
    #expect(result.counters.buffers == 10 && result.counters.bytes == 10 && result.counters.dropped == 0)
  }

  @Test func packetsAreReleasedOnceUsed() async throws {
    final class Watch { weak var owner: AnyObject? }
    let watch = Watch()
    _ = try await passThrough("appsrc name=in ! fakesink  appsrc ! appsink name=out") { source in
      let packet = PacketBuffer(copying: 0..<100)
      watch.owner = packet.owner
      source.push(packet, dts: .now)
    }
    #expect(watch.owner == nil)
  }

  @Test(arguments: ["none", "downstream"]) func aFullSourceDropsAndCounts(_ leaky: String) async throws {
    let pipeline = try Pipeline(
      description: "appsrc name=in max-buffers=5 max-bytes=0 leaky-type=\(leaky) ! appsink name=out sync=false",
      name: "test")
    let source = try pipeline.appSource(named: "in")
    let numbers = Collector<UInt8>()
    try pipeline.appSink(named: "out", onBuffer: { media in numbers.add(media.withUnsafeBytes { $0.first ?? 255 }) })
    // Not playing yet: nothing is taken out of the queue.
    pipeline.pause()
    let results = (0..<20).map { source.push(PacketBuffer(copying: [UInt8($0)]), dts: .now) }
    #expect(results.count { $0 == .full } == source.counters.dropped)
    #expect(source.counters.dropped >= 14 && source.queuedBuffers <= 6)
    try pipeline.start()
    try await pipeline.sendEndOfStream()
    #expect(await pipeline.stop())
    #expect(numbers.values.contains(leaky == "none" ? 0 : 19))
    #expect(numbers.count + source.counters.dropped == 20)
  }

  @Test func planesOfRawFrames() throws {
    let frame = try #require(VideoFrameBuffer(try NumberedFrame.media(0b1010)))
    #expect(frame.width == 320 && frame.height == 240 && frame.pixelFormat == .i420)
    #expect(NumberedFrame.read(frame)?.number == 0b1010)
    let shapes = frame.withPlanes { planes in
      (0..<planes.count).compactMap { planes[$0] }.map { [$0.width, $0.height, $0.pixelStride, $0.bytes.count] }
    }
    #expect(shapes == [[320, 240, 1, 76_800], [160, 120, 1, 19_200], [160, 120, 1, 19_200]])
    #expect(frame.withPlanes { planes in planes[3] == nil && planes[-1] == nil } == true)
  }

  @Test func aFrameSmallerThanItsFormatIsNotMapped() throws {
    let caps = try #require(Caps("video/x-raw,format=NV12,width=64,height=64,framerate=25/1"))
    let short = [UInt8](repeating: 0, count: 100).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    let frame = try #require(VideoFrameBuffer(short))
    #expect(frame.pixelFormat == .nv12)
    #expect(frame.withPlanes { _ in true } == nil)
    #expect(AudioBuffer(short) == nil)
  }

  @Test func capsAsValues() throws {
    let caps = try #require(Caps("video/x-h264, width=640, framerate=30/1, stream-format=avc"))
    #expect(caps.mediaType == "video/x-h264" && caps.int("width") == 640 && caps.string("stream-format") == "avc")
    #expect(caps.fraction("framerate").map { [$0.numerator, $0.denominator] } == [30, 1])
    #expect(caps.int("height") == nil && caps.string("width") == nil && caps.isFixed)
    #expect(Caps(caps.description) == caps)
    #expect(Caps("ANY")?.isAny == true && Caps("ANY")?.mediaType == "")
    #expect(Caps("this is = not [ caps") == nil)
  }
}
