import BridgeTesting
import CGStreamer
import CShims
import MediaCore
import Testing

@testable import GStreamerKit

/// Frames that a decoder and its consumers share.
@Suite(.serialized) struct FrameMemoryTests {
  /// What encodes, a decoder of libav, and one of another library, whose frames are the same bit by bit.
  enum Codec: CaseIterable {
    case vp8, vp9, h264

    var elements: (encoder: String, decoder: String, reference: String) {
      switch self {
      case .vp8: ("vp8enc deadline=1 cpu-used=8 target-bitrate=800000", "avdec_vp8", "vp8dec")
      case .vp9: ("vp9enc deadline=1 cpu-used=8 target-bitrate=800000", "avdec_vp9", "vp9dec")
      case .h264: ("x264enc tune=zerolatency speed-preset=ultrafast ! h264parse", "avdec_h264", "openh264dec")
      }
    }

    /// Decodes 40 frames that move into the appsinks `frames` and `reference`.
    /// - Parameter filter: what they pass on the way.
    func description(_ width: Int, _ height: Int, filter: String) -> String {
      let input = "videotestsrc pattern=ball motion=wavy num-buffers=40"
      let caps = "video/x-raw,format=I420,width=\(width),height=\(height)"
      return """
        \(input) ! \(caps) ! \(elements.encoder) ! tee name=media
        media. ! queue ! \(elements.decoder) max-threads=1 ! \(filter) ! appsink name=frames sync=false
        media. ! queue ! \(elements.reference) ! \(filter) ! appsink name=reference sync=false
        """
    }
  }

  private struct Decoded {
    /// As it was when it came.
    var samples: [UInt8]
    /// As it is kept.
    var frame: VideoFrameBuffer
  }

  private func collect(_ name: String, of pipeline: Pipeline) throws -> (Collector<Decoded>, Collector<Bool>) {
    let (frames, end) = (Collector<Decoded>(), Collector<Bool>())
    try pipeline.appSink(
      named: name,
      onBuffer: { media in
        guard let frame = VideoFrameBuffer(media), let samples = frame.packed() else { return }
        frames.add(Decoded(samples: samples, frame: frame))
      }, onEnd: { end.add(true) })
    return (frames, end)
  }

  /// What both decoders made of the same stream.
  private func decode(
    _ codec: Codec, _ width: Int, _ height: Int, filter: String = "identity"
  ) async throws -> (ours: [Decoded], theirs: [Decoded]) {
    let pipeline = try Pipeline(description: codec.description(width, height, filter: filter), name: "decode")
    let errors = errors(of: pipeline)
    let (ours, end) = try collect("frames", of: pipeline)
    let (theirs, referenceEnd) = try collect("reference", of: pipeline)
    try pipeline.start()
    try await eventually { !end.values.isEmpty && !referenceEnd.values.isEmpty }
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
    return (ours.values, theirs.values)
  }

  /// Sizes that decoders pad: to whole blocks, and to rows of the width of their vectors.
  @Test(arguments: Codec.allCases, [(640, 360), (322, 182), (1920, 1080)])
  func framesComeAsTheyWereDecoded(codec: Codec, size: (Int, Int)) async throws {
    let (ours, theirs) = try await decode(codec, size.0, size.1)
    #expect(ours.count == 40 && theirs.count == 40)
    for (number, pair) in zip(ours, theirs).enumerated() {
      #expect(pair.0.samples == pair.1.samples, "frame \(number)")
      #expect(pair.0.frame.width == size.0 && pair.0.frame.height == size.1)
      #expect(shim_is_frame_memory(pair.0.frame.media.buffer) != 0, "copied on the way")
    }
  }

  @Test(arguments: Codec.allCases) func keptFramesStayAsTheyWere(codec: Codec) async throws {
    let (ours, _) = try await decode(codec, 320, 240)
    let changed = ours.indices.filter { ours[$0].frame.packed() != ours[$0].samples }
    #expect(ours.count == 40 && changed.isEmpty)
    #expect(Set(ours.map(\.samples)).count > 30, "nothing moves")
  }

  /// Sends decoded frames through `elements`, and returns what comes out.
  private func pass(_ frames: [Decoded], through elements: String) async throws -> [MediaBuffer] {
    let input = "appsrc name=in max-bytes=0 caps=video/x-raw"
    let pipeline = try Pipeline(description: "\(input) ! \(elements) ! appsink name=out sync=false", name: "pass")
    let source = try pipeline.appSource(named: "in")
    let (out, end) = (Collector<MediaBuffer>(), Collector<Bool>())
    try pipeline.appSink(named: "out", onBuffer: { out.add($0) }, onEnd: { end.add(true) })
    try pipeline.start()
    for decoded in frames { source.push(decoded.frame.media) }
    source.endOfStream()
    try await eventually { !end.values.isEmpty }
    #expect(await pipeline.stop())
    return out.values
  }

  /// `identity drop-allocation=true` answers like an element that knows nothing of layouts.
  @Test func whoReadsNoOtherLayoutGetsThatOfTheCaps() async throws {
    let (ours, _) = try await decode(.vp8, 322, 182)
    let plain = try await pass(ours, through: "identity drop-allocation=true")
    #expect(plain.count == 40)
    for (decoded, media) in zip(ours, plain) {
      #expect(gst_buffer_get_video_meta(media.buffer) == nil && media.pts == decoded.frame.media.pts)
      // 324 + 2 * 164 bytes in a row, and 182 + 2 * 91 rows.
      #expect(gst_buffer_get_size(media.buffer) == 324 * 182 + 2 * 164 * 91)
      #expect(try #require(VideoFrameBuffer(media)).packed() == decoded.samples)
    }
  }

  @Test func whoReadsAnyLayoutGetsTheFrameItself() async throws {
    let (ours, _) = try await decode(.vp8, 322, 182)
    let passed = try await pass(ours, through: "videoflip")
    #expect(passed.count == 40 && passed.allSatisfy { shim_is_frame_memory($0.buffer) != 0 })
  }

  /// Later frames are predicted from those that were drawn on.
  @Test(arguments: Codec.allCases) func whoDrawsOnAFrameDrawsOnACopy(codec: Codec) async throws {
    let (ours, theirs) = try await decode(codec, 320, 240, filter: "textoverlay text=drawn font-desc=\"Sans 60\"")
    #expect(ours.count == 40 && ours.map(\.samples) == theirs.map(\.samples))
  }

  @Test func drawingOnAFrameLeavesThatOfOthersAlone() async throws {
    let (ours, _) = try await decode(.vp8, 320, 240)
    let drawn = try await pass(ours, through: "videobalance brightness=0.5")
    #expect(drawn.count == 40)
    for (decoded, media) in zip(ours, drawn) {
      #expect(decoded.frame.packed() == decoded.samples)
      #expect(try #require(VideoFrameBuffer(media)).packed() != decoded.samples)
    }
  }

  /// Those who ask for memory release what they were given; GstVideoAggregator keeps an allocator that stands in the
  /// answer.
  @Test(arguments: ["avdec_vp8", "vp8dec", "compositor"]) func memoryIsReleased(asker: String) async throws {
    let freed = Collector<Bool>()
    let encoder = asker == "compositor" ? "identity" : "vp8enc deadline=1"
    try await run("videotestsrc num-buffers=10 ! video/x-raw,format=I420 ! \(encoder) ! \(asker)") { freed.add(true) }
    try await eventually("the end of the allocator") { !freed.values.isEmpty }
  }

  /// - Parameter onEnd: called when the allocator of the first frame ends.
  private func run(_ elements: String, onEnd: @escaping @Sendable () -> Void) async throws {
    let pipeline = try Pipeline(description: "\(elements) ! appsink name=frames sync=false", name: "release")
    let (frames, end) = (Collector<Bool>(), Collector<Bool>())
    try pipeline.appSink(
      named: "frames",
      onBuffer: { media in
        if frames.values.isEmpty { Self.whenAllocatorEnds(of: media, onEnd) }
        frames.add(shim_is_frame_memory(media.buffer) != 0)
      }, onEnd: { end.add(true) })
    try pipeline.start()
    try await eventually { !end.values.isEmpty }
    #expect(await pipeline.stop())
    #expect(frames.values == Array(repeating: true, count: 10))
  }

  private static func whenAllocatorEnds(of media: MediaBuffer, _ body: @escaping @Sendable () -> Void) {
    let allocator = gst_buffer_peek_memory(media.buffer, 0).pointee.allocator
    let context = Unmanaged.passRetained(Ending(body)).toOpaque()
    let object = UnsafeMutableRawPointer(allocator)?.assumingMemoryBound(to: GObject.self)
    g_object_weak_ref(
      object, { context, _ in context.map { Unmanaged<Ending>.fromOpaque($0).takeRetainedValue().body() } }, context)
  }
}

private final class Ending: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
