import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

/// Frames as other pixels and as image files, which ffmpeg reads again.
@Suite struct VideoFrameImageTests {
  private func frame(
    _ width: Int, _ height: Int, _ colorimetry: QuadrantFrame.Colorimetry = .bt601, rotation: VideoRotation = ._0
  ) throws -> VideoFrame {
    let time = MediaTime(nanoseconds: 123_456_789_000)
    let frame = QuadrantFrame(width: width, height: height)
    let buffer = frame.i420(colorimetry, pts: time, quarterTurns: rotation.rawValue / 90)
    return VideoFrame(buffer: try #require(buffer), time: time)
  }

  private struct Decoded {
    var width: Int
    var height: Int
    /// Codec and pixel format, as ffprobe names them.
    var kind: [String]
    var rgb: [UInt8]

    func mistakes(turned: Int = 0, tolerance: Int) -> [String] {
      guard rgb.count == width * height * 3 else { return ["\(rgb.count) bytes of \(width)x\(height)"] }
      return rgb.withUnsafeBytes {
        QuadrantFrame.mistakes(
          in: $0, width: width, height: height, stride: width * 3, pixelStride: 3, turned: turned, tolerance: tolerance)
      }
    }
  }

  private func decode(_ data: Data) throws -> Decoded {
    let folder = try TemporaryFolder()
    let (image, raw) = ("\(folder.path)/image", "\(folder.path)/raw")
    try data.write(to: URL(fileURLWithPath: image))
    let probe = try run(
      "ffprobe",
      ["-v", "error", "-show_entries", "stream=codec_name,width,height,pix_fmt", "-of", "csv=p=0", image])
    let fields = probe.output.split(whereSeparator: { $0 == "," || $0.isNewline }).map(String.init)
    try #require(probe.status == 0 && fields.count == 4, "\(probe)")
    let result = try run(
      "ffmpeg", ["-v", "error", "-i", image, "-f", "rawvideo", "-pix_fmt", "rgb24", raw])
    try #require(result.status == 0 && result.errors.isEmpty, "\(result)")
    return Decoded(
      width: Int(fields[1]) ?? 0, height: Int(fields[2]) ?? 0, kind: [fields[0], fields[3]],
      rgb: Array(try Data(contentsOf: URL(fileURLWithPath: raw))))
  }

  @Test func timesAndSizes() throws {
    let frame = try frame(63, 45, rotation: ._90)
    #expect(frame.timeStampNs == 123_456_789_000)
    // 123.456789 s at 90 kHz.
    #expect(frame.timeStamp == 11_111_111)
    #expect(frame.dimensions == Dimensions(width: 63, height: 45))
    let times: [(Int64, Int32)] = [
      (0, 0), (23_860_929_422_222, .max), (23_860_929_422_223, .min), (-100_000, -9), (.max, -2_025_850_175),
    ]
    for (nanoseconds, ticks) in times {
      #expect(VideoFrame(buffer: frame.buffer, time: MediaTime(nanoseconds: nanoseconds)).timeStamp == ticks)
    }
  }

  @Test func anotherFormatKeepsTimeAndRotation() throws {
    let frame = try frame(63, 45, rotation: ._270)
    let rgba = try frame.converted(to: .rgba, size: Dimensions(width: 31, height: 21))
    #expect(rgba.time == frame.time && rgba.rotation == ._270 && rgba.buffer.pixelFormat == .rgba)
    #expect(rgba.dimensions == Dimensions(width: 31, height: 21))
    #expect(try frame.converted(to: .i420).buffer.media === frame.buffer.media)
  }

  @Test func whatCannotBeDoneIsSaid() throws {
    let frame = try frame(63, 45)
    let badSize = #expect(throws: LiveKitError.self) {
      try frame.converted(to: .rgba, size: .init(width: 0, height: 9))
    }
    #expect(badSize?.code == .invalidParameter && badSize?.message.contains("0x9") == true)
    let badFormat = #expect(throws: LiveKitError.self) { try frame.converted(to: .other("nonsense")) }
    #expect(badFormat?.code == .invalidParameter && badFormat?.message.contains("nonsense") == true)
    for quality in [0, 101, -5] {
      let error = #expect(throws: LiveKitError.self) { try frame.jpegData(quality: quality) }
      #expect(error?.code == .invalidParameter && error?.message.contains("\(quality)") == true)
    }
    let caps = try #require(Caps("video/x-raw,format=I420,width=64,height=48,framerate=25/1"))
    let short = [UInt8](repeating: 0, count: 9).withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    let broken = VideoFrame(buffer: try #require(VideoFrameBuffer(short)), time: .now)
    let errors = [
      #expect(throws: LiveKitError.self) { try broken.converted(to: .rgba) },
      #expect(throws: LiveKitError.self) { try broken.pngData() },
      #expect(throws: LiveKitError.self) { try broken.jpegData() },
    ]
    #expect(errors.allSatisfy { $0?.code == .pipeline })
  }

  @Test func aMissingEncoderIsNamedWithItsPackage() {
    let error = LiveKitError(
      encodingImage: PipelineError(.missingElements(["pngenc", "jpegenc", "videoflip"]), "missing"))
    #expect(error.code == .missingElement)
    for element in ["pngenc", "jpegenc", "videoflip"] {
      #expect(
        error.message.contains(
          "the GStreamer element '\(element)' is missing; install the Debian package gstreamer1.0-plugins-good"))
    }
  }

  @Test(arguments: [(64, 48), (63, 45), (1, 1), (321, 183)], [VideoRotation._0, ._90, ._180, ._270])
  func imagesAreUprightAndOfTheRightColors(size: (Int, Int), rotation: VideoRotation) throws {
    let frame = try frame(size.0, size.1, rotation: rotation)
    let png = try decode(frame.pngData())
    let jpeg = try decode(frame.jpegData(quality: 95))
    let (width, height) = rotation == ._90 || rotation == ._270 ? (size.1, size.0) : size
    for image in [png, jpeg] { #expect(image.width == width && image.height == height) }
    guard size.0 > 1 else { return }
    #expect(png.kind == ["png", "rgb24"] && jpeg.kind == ["mjpeg", "yuvj420p"])
    #expect(png.mistakes(turned: rotation.rawValue / 90, tolerance: 8) == [])
    #expect(jpeg.mistakes(turned: rotation.rawValue / 90, tolerance: 16) == [])
  }

  @Test(arguments: [QuadrantFrame.Colorimetry.bt709, .fullRange])
  func theStreamsColorsAreUnderstood(colorimetry: QuadrantFrame.Colorimetry) throws {
    let frame = try frame(64, 48, colorimetry)
    #expect(try decode(frame.pngData()).mistakes(tolerance: 8) == [])
    #expect(try decode(frame.jpegData(quality: 95)).mistakes(tolerance: 16) == [])
  }

  @Test func transparentAndGrayFramesStaySo() throws {
    // A buffer need not have a time of its own.
    let frame = VideoFrame(buffer: try #require(QuadrantFrame(width: 63, height: 45).i420(pts: nil)), time: .now)
    #expect(try decode(frame.converted(to: .rgba).pngData()).kind == ["png", "rgba"])
    #expect(try decode(frame.converted(to: .bgra).jpegData()).mistakes(tolerance: 24) == [])
    let gray = try decode(frame.converted(to: .gray8).pngData())
    #expect(gray.kind == ["png", "gray"])
    #expect(abs(Int(gray.rgb[0]) - 76) < 8 && (gray.rgb.last ?? 0) > 250)
    #expect(try abs(Int(decode(frame.converted(to: .gray8).jpegData()).rgb[0]) - 76) < 8)
  }

  @Test func aBetterJPEGIsALargerOne() throws {
    let frame = try frame(321, 183)
    #expect(try frame.jpegData(quality: 100).count > frame.jpegData(quality: 20).count)
  }

  /// Any thread may ask, and the cooperative threads may all be asking at once.
  @Test func manyCallersAtOnce() async throws {
    let frame = try frame(321, 183)
    let expected = try frame.pngData()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<24 {
        group.addTask {
          index.isMultiple(of: 2) ? try frame.pngData() == expected : try frame.jpegData().count > 1000
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  /// Within a renderer's call, which comes on a streaming thread, and on the one that brings every pipeline's messages.
  @Test func aMediaThreadMayAsk() async throws {
    let pipeline = try Pipeline(
      description: "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=161,height=91 ! appsink name=out",
      name: "test")
    let sizes = Collector<Int>()
    let still = try frame(161, 91)
    pipeline.onMessage { message in
      if case .endOfStream = message { sizes.add((try? still.pngData().count) ?? -1) }
    }
    try pipeline.appSink(
      named: "out",
      onBuffer: { media in
        guard let buffer = VideoFrameBuffer(media) else { return }
        let frame = VideoFrame(buffer: buffer, time: .now)
        sizes.add((try? frame.pngData().count) ?? -1)
        sizes.add((try? frame.jpegData().count) ?? -1)
      })
    try pipeline.start()
    try await pipeline.endOfStream(timeLimit: .seconds(20))
    #expect(await pipeline.stop())
    #expect(sizes.count == 11 && sizes.values.allSatisfy { $0 > 100 })
  }
}
