import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

/// VP9 of which one picture is several frames, as in spatial layers, ahead of decoders that take one frame at a time.
@Suite struct LayeredFrameTests {
  private func frames() async throws -> [[UInt8]] {
    let pipeline = try Pipeline(
      description: """
        videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=64,framerate=25/1
        ! vp9enc deadline=1 cpu-used=8 ! appsink name=out sync=false
        """, name: "layers")
    let frames = Collector<[UInt8]>()
    try pipeline.appSink(named: "out", onBuffer: { media in frames.add(media.withUnsafeBytes { Array($0) }) })
    try pipeline.start()
    try await pipeline.endOfStream(timeLimit: .seconds(30))
    #expect(await pipeline.stop())
    return frames.values
  }

  /// How many frames a decoder of hardware gets of a picture, as the receive templates feed it.
  private func parts(of picture: [UInt8]) async throws -> Int {
    let pipeline = try Pipeline(
      description: """
        appsrc name=in format=time caps=video/x-vp9 ! vp9parse ! video/x-vp9,alignment=frame
        ! appsink name=out sync=false
        """, name: "parts")
    let parts = Collector<Int>()
    try pipeline.appSink(named: "out", onBuffer: { media in parts.add(media.size) })
    let source = try pipeline.appSource(named: "in")
    try pipeline.start()
    let media = picture.withUnsafeBytes { bytes in
      Caps("video/x-vp9").map { MediaBuffer(copying: bytes, caps: $0, pts: MediaTime(nanoseconds: 0)) }
    }
    source.push(try #require(media))
    try await pipeline.sendEndOfStream(timeLimit: .seconds(30))
    #expect(await pipeline.stop())
    return parts.count
  }

  /// Why receive/vp9 inside the program takes over from templates of hardware where there are layers: WebRTC sends no
  /// index.
  @Test func onlyAnIndexPartsThem() async throws {
    let frames = try await frames()
    try #require(frames.count == 2)
    let picture = frames[0] + frames[1]
    #expect(try await parts(of: picture) == 1)
    // VP9 bitstream, annex B: two frames, each size in two bytes.
    let sizes = frames.flatMap { [UInt8($0.count & 0xff), UInt8($0.count >> 8)] }
    #expect(try await parts(of: picture + [0xc9] + sizes + [0xc9]) == 2)
  }
}
