import BridgeTesting
import CGStreamer
import MediaCore
import Testing

@testable import GStreamerKit

/// Frames in other formats and sizes, looked at pixel by pixel.
@Suite struct VideoConversionTests {
  /// Odd and even sizes, and one that is a pixel or two.
  static let sizes = [(64, 48), (63, 45), (641, 361)]

  private func mistakes(_ frame: VideoFrameBuffer, offsets: [Int], tolerance: Int = 8) throws -> [String] {
    try #require(
      frame.withPlanes { planes in
        planes[0].map { plane in
          QuadrantFrame.mistakes(
            in: plane.bytes, width: plane.width, height: plane.height, stride: plane.stride,
            pixelStride: plane.pixelStride, offsets: offsets, tolerance: tolerance)
        }
      } ?? nil)
  }

  /// The samples without the padding of the rows.
  private func samples(_ frame: VideoFrameBuffer) throws -> [[UInt8]] {
    try #require(
      frame.withPlanes { planes in
        (0..<planes.count).compactMap { planes[$0] }.map { plane in
          (0..<plane.height).flatMap { row in
            plane.bytes[(row * plane.stride)..<(row * plane.stride + plane.width * plane.pixelStride)]
          }
        }
      })
  }

  @Test(arguments: sizes, [QuadrantFrame.Colorimetry.bt601, .bt709, .fullRange])
  func colorsSurvive(size: (Int, Int), colorimetry: QuadrantFrame.Colorimetry) throws {
    let frame = try #require(QuadrantFrame(width: size.0, height: size.1).i420(colorimetry))
    let formats: [(VideoFrameBuffer.PixelFormat, [Int], Int)] = [
      (.rgba, [0, 1, 2], 4), (.bgra, [2, 1, 0], 4), (.rgb, [0, 1, 2], 3), (.other("BGR"), [2, 1, 0], 3),
      (.other("ARGB"), [1, 2, 3], 4),
    ]
    for (format, offsets, pixelStride) in formats {
      let converted = try frame.converted(to: format)
      #expect(converted.pixelFormat == format && converted.width == size.0 && converted.height == size.1)
      #expect(converted.media.pts == frame.media.pts && converted.media.duration == .milliseconds(40))
      #expect(try mistakes(converted, offsets: offsets) == [], "\(format)")
      #expect(converted.withPlanes { $0.count == 1 && $0[0]?.pixelStride == pixelStride } == true)
    }
    let rgba = try samples(frame.converted(to: .rgba))
    #expect(stride(from: 3, to: rgba[0].count, by: 4).allSatisfy { rgba[0][$0] == 255 })
  }

  @Test(arguments: sizes) func lumaAndChromaStayExact(size: (Int, Int)) throws {
    let frame = try #require(QuadrantFrame(width: size.0, height: size.1).i420(.bt709))
    let nv12 = try frame.converted(to: .nv12)
    let planes = try samples(frame)
    let pairs = zip(planes[1], planes[2]).flatMap { [$0, $1] }
    #expect(try samples(nv12) == [planes[0], pairs])
    #expect(nv12.media.caps.string("colorimetry") == "bt709")
    #expect(try samples(nv12.converted(to: .i420)) == planes)
  }

  @Test func rgbBecomesLumaAndChroma() throws {
    let frame = try #require(QuadrantFrame(width: 63, height: 45).i420()).converted(to: .bgra)
    for format in [VideoFrameBuffer.PixelFormat.i420, .nv12] {
      let converted = try frame.converted(to: format)
      #expect(converted.pixelFormat == format)
      #expect(converted.media.caps.string("colorimetry") == "bt601")
      #expect(try mistakes(converted.converted(to: .rgb), offsets: [0, 1, 2], tolerance: 12) == [])
      let luma = try samples(converted)[0]
      let expected = QuadrantFrame.Colorimetry.bt601
      #expect(abs(Int(luma[0]) - Int(expected.luma(QuadrantFrame.colors[0])[0])) < 5)
      #expect(abs(Int(luma[luma.count - 1]) - 235) < 5)
    }
  }

  @Test(arguments: [QuadrantFrame.Colorimetry.bt601, .bt709, .fullRange])
  func grayIsTheLumaOfTheFrame(colorimetry: QuadrantFrame.Colorimetry) throws {
    let frame = try #require(QuadrantFrame(width: 63, height: 45).i420(colorimetry))
    let gray = try frame.converted(to: .gray8)
    let samples = try samples(gray)
    #expect(samples.count == 1 && samples[0].count == 63 * 45)
    let points = QuadrantFrame.points(width: 63, height: 45).map { samples[0][$0[0].y * 63 + $0[0].x] }
    for (found, expected) in zip(points, [76, 150, 29, 255]) { #expect(abs(Int(found) - expected) < 8) }
    // And back, though without colour.
    let back = try gray.converted(to: .i420)
    #expect(try abs(Int(self.samples(back)[0].last ?? 0) - 235) < 5)
  }

  @Test func aSizeIsReachedInTheSameCall() throws {
    let frame = try #require(QuadrantFrame(width: 641, height: 361).i420())
    for (width, height) in [(33, 21), (800, 600), (1, 1)] {
      let scaled = try frame.converted(to: .rgba, width: width, height: height)
      #expect(scaled.width == width && scaled.height == height && scaled.pixelFormat == .rgba)
      if width > 1 { #expect(try mistakes(scaled, offsets: [0, 1, 2], tolerance: 16) == []) }
    }
    let half = try frame.converted(to: .i420, width: 320)
    #expect(half.width == 320 && half.height == 361)
    #expect(try mistakes(half.converted(to: .rgb), offsets: [0, 1, 2], tolerance: 16) == [])
  }

  @Test func whatIsSoAlreadyIsTheSameMemory() throws {
    let frame = try #require(QuadrantFrame(width: 63, height: 45).i420())
    #expect(try frame.converted(to: .i420).media === frame.media)
    #expect(try frame.converted(to: .other("I420"), width: 63, height: 45).media === frame.media)
    #expect(try frame.converted(to: .i420, width: 62).media !== frame.media)
  }

  @Test func whatCannotBeIsAnError() throws {
    let frame = try #require(QuadrantFrame(width: 64, height: 48).i420())
    let kinds = [("0x5", 0, 5), ("5x0", 5, 0), ("-1x5", -1, 5), ("70000x5", 70_000, 5)]
    for (name, width, height) in kinds {
      let error = #expect(throws: PipelineError.self) { try frame.converted(to: .rgba, width: width, height: height) }
      #expect(error?.kind == .format && error?.message.contains(name) == true)
    }
    for name in ["nonsense", "ENCODED", ""] {
      #expect(throws: PipelineError.self) { try frame.converted(to: .other(name)) }
    }
    let caps = try #require(Caps("video/x-raw,format=I420,width=64,height=48,framerate=25/1"))
    let short = [UInt8](repeating: 0, count: 100).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    #expect(throws: PipelineError.self) { try VideoFrameBuffer(short)?.converted(to: .rgba) }
  }

  /// A decoder may lay out its planes as it likes and tell so in the buffer, with a size that includes padding.
  @Test func aDecodersOwnStridesAreHonoured() throws {
    let source = QuadrantFrame(width: 63, height: 45)
    let (planes, strides) = source.planes(.bt601, strides: [96, 80, 64], padding: 99)
    let lead = [UInt8](repeating: 7, count: 40)
    let bytes = planes.flatMap { lead + $0 }
    let caps = try #require(source.caps("I420", .bt601))
    let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    var offsets = [gsize](repeating: 0, count: 4)
    for plane in 0..<3 { offsets[plane] = gsize(planes[..<plane].reduce(40 * (plane + 1)) { $0 + $1.count }) }
    var cStrides = strides.map { gint($0) } + [0]
    let format = try #require(VideoFrameBuffer.PixelFormat.i420.known)
    gst_buffer_add_video_meta_full(media.buffer, GstVideoFrameFlags(0), format, 64, 46, 3, &offsets, &cStrides)
    let frame = try #require(VideoFrameBuffer(media))
    let shapes = frame.withPlanes { planes in
      (0..<3).compactMap { planes[$0] }.map { [$0.width, $0.height, $0.stride] }
    }
    #expect(shapes == [[63, 45, 96], [32, 23, 80], [32, 23, 64]])
    let plain = try #require(source.i420())
    #expect(try samples(frame) == samples(plain))
    #expect(try samples(frame.converted(to: .nv12)) == samples(plain.converted(to: .nv12)))
    #expect(try mistakes(frame.converted(to: .rgba), offsets: [0, 1, 2]) == [])
  }

  @Test(arguments: ["0:0:0:0", "0:4:0:0"]) func colorsThatNobodyTellsAreTheUsualOnes(colorimetry: String) throws {
    let frame = QuadrantFrame(width: 64, height: 48)
    let caps = try #require(
      Caps("video/x-raw,format=I420,width=64,height=48,framerate=25/1,colorimetry=(string)\(colorimetry)"))
    let bytes = frame.planes(.bt601).planes.flatMap { $0 }
    let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    #expect(try mistakes(#require(VideoFrameBuffer(media)).converted(to: .rgb), offsets: [0, 1, 2]) == [])
  }
}
