import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

/// The shipped process templates, and what goes wrong with them.
@Suite struct TemplateVideoProcessorTests {
  /// Black and white rows by turns, each of 4 pixels.
  private func stripes(_ width: Int = 320, _ height: Int = 180, time: MediaTime = .now) throws -> VideoFrame {
    let luma = (0..<height).flatMap { [UInt8](repeating: $0 / 4 % 2 == 0 ? 16 : 235, count: width) }
    let chroma = [UInt8](repeating: 128, count: (width + 1) / 2 * ((height + 1) / 2) * 2)
    return try #require(VideoFrame(i420: luma + chroma, width: width, height: height, time: time))
  }

  private func luma(_ frame: VideoFrame, _ x: Int, _ y: Int) -> Int {
    (frame.buffer.withPlanes { $0[0].map { Int($0.bytes[y * $0.stride + x]) } } ?? nil) ?? -1
  }

  /// How far the rows of a column are apart.
  private func contrast(_ frame: VideoFrame) -> Int {
    let rows = (20..<Int(frame.dimensions.height) - 20).map { luma(frame, 100, $0) }
    return (rows.max() ?? 0) - (rows.min() ?? 0)
  }

  private func process(
    _ template: String, _ values: [String: String] = [:], _ frame: VideoFrame? = nil
  ) async throws -> VideoFrame {
    let processor = try TemplateVideoProcessor(template: template, values: values)
    let processed = processor.process(frame: try frame ?? stripes())
    await processor.pause()
    return try #require(processed, "\(processor.failure?.message ?? "nothing came")")
  }

  @Test func blurLeavesSizeTimeAndNoDetail() async throws {
    let frame = try stripes(322, 178)
    let blurred = try await process("blur", [:], frame)
    #expect(blurred.dimensions == frame.dimensions && blurred.time == frame.time)
    #expect(contrast(frame) > 200 && contrast(blurred) < 20)
    #expect(try await contrast(process("blur", ["detail": "320"])) > 100)
  }

  /// One pipeline, whose frames change.
  @Test func framesOfAnySizeAndTurnComeOutUpright() async throws {
    let processor = try TemplateVideoProcessor(template: "blur")
    for (width, height, turns) in [(320, 180, 0), (640, 360, 0), (320, 180, 1), (320, 180, 0)] {
      let plain = try stripes(width, height)
      let bytes = try #require(plain.buffer.packed())
      let turned = bytes.withUnsafeBytes {
        MediaBuffer(copying: $0, caps: plain.buffer.media.caps, pts: nil, quarterTurns: turns)
      }
      let frame = VideoFrame(buffer: try #require(VideoFrameBuffer(turned)), time: .now)
      let processed = try #require(processor.process(frame: frame), "\(processor.failure?.message ?? "")")
      #expect(processed.dimensions == frame.uprightSize && processed.rotation == ._0)
    }
    await processor.pause()
  }

  @Test func cropTakesTheEdges() async throws {
    let cropped = try await process("crop", ["left": "20", "right": "40", "top": "4", "bottom": "16"])
    #expect(cropped.dimensions == Dimensions(width: 260, height: 160))
    #expect(luma(cropped, 5, 0) == 235)
  }

  @Test func aLogoIsAtItsPlace() async throws {
    let folder = try TemporaryFolder()
    let bytes = [UInt8](repeating: 235, count: 400) + [UInt8](repeating: 128, count: 200)
    let white = try #require(VideoFrame(i420: bytes, width: 20, height: 20))
    let file = folder.path + "/logo.png"
    try white.pngData().write(to: URL(fileURLWithPath: file))
    let values = ["location": file, "x": "100", "y": "-40", "logo-width": "32", "logo-height": "16"]
    let marked = try await process("logo", values)
    // The stripes from row 128 and from row 136 on are black; the logo is from row 124 to 139.
    #expect([129, 137].allSatisfy { luma(marked, 104, $0) > 220 && luma(marked, 127, $0) > 220 })
    #expect(luma(marked, 98, 129) < 40 && luma(marked, 134, 129) < 40 && luma(marked, 104, 122) < 40)
  }

  @Test func aTextIsShownAsItIs() async throws {
    let plain = try stripes()
    let written = try await process("text", ["text": "R&D <b>", "halign": "center", "valign": "center"], plain)
    let changed = (0..<320).count { luma(written, $0, 90) != luma(plain, $0, 90) }
    let other = try await process("text", ["text": "R", "halign": "center", "valign": "center"], plain)
    #expect(changed > 30 && changed > (0..<320).count { luma(other, $0, 90) != luma(plain, $0, 90) })
    #expect((0..<320).allSatisfy { luma(written, $0, 4) == luma(plain, $0, 4) })
  }

  @Test func framesWithoutFacesStayAsTheyAre() async throws {
    let frame = try stripes()
    let processed = try await process("faces-blurred", [:], frame)
    #expect(processed.dimensions == frame.dimensions && contrast(processed) > 200)
  }

  // MARK: What goes wrong

  @Test(
    arguments: [
      ("blurr", [:], .template, "blurr"), ("crop", ["lft": "1"], .invalidParameter, "did you mean 'left'"),
      ("crop", ["left": "ten"], .template, "'ten' is no value for `left`"), ("logo", [:], .template, "${location}"),
      ("logo", ["location": "/nothing.png"], .pipeline, "image"),
    ] as [(String, [String: String], LiveKitError.Code, String)])
  func mistakesAreTold(_ template: String, _ values: [String: String], _ code: LiveKitError.Code, _ words: String) {
    let error = #expect(throws: LiveKitError.self) { try TemplateVideoProcessor(template: template, values: values) }
    #expect(error?.code == code && error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(
    arguments: [
      ("appsrc name=frames ! facedetec ! appsink name=processed", .missingElement, "facedetec"),
      ("appsrc name=pcm ! appsink name=processed", .template, "no appsrc called frames"),
      (
        "appsrc name=frames ! fakesink filesrc location=/x/haarcascades/y ! appsink name=processed", .pipeline,
        "opencv-data"
      ),
    ] as [(String, LiveKitError.Code, String)])
  func mistakesInATextAreTold(_ text: String, _ code: LiveKitError.Code, _ words: String) throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/process", withIntermediateDirectories: true)
    try text.write(toFile: folder.path + "/process/mine.pipeline", atomically: true, encoding: .utf8)
    let error = #expect(throws: LiveKitError.self) {
      try TemplateVideoProcessor(template: "mine", pipelineFolder: folder.path)
    }
    #expect(error?.code == code && error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func whatFailsAtAFrameGivesNoneUntilItIsPaused() async throws {
    let processor = try TemplateVideoProcessor(template: "crop", values: ["left": "400"])
    let (small, large) = (try stripes(), try stripes(640, 360))
    #expect(processor.process(frame: large)?.dimensions.width == 240)
    #expect(processor.process(frame: small) == nil && processor.failure?.code == .pipeline)
    #expect(processor.failure?.message.contains("a frame of 320x180") == true)
    #expect(processor.process(frame: large) == nil)
    await processor.pause()
    #expect(processor.failure == nil && processor.process(frame: large)?.dimensions.width == 240)
    await processor.pause()
  }

  @Test func nothingIsLeftBehindItsPauses() async throws {
    let processor = try TemplateVideoProcessor(template: "blur")
    let frame = try stripes()
    func round() async {
      _ = processor.process(frame: frame)
      await processor.pause()
    }
    for _ in 0..<3 { await round() }
    let before = Footprint.current
    for _ in 0..<20 { await round() }
    // The last ones are still being taken down.
    try await eventually("as little as before: \(before)") {
      let after = Footprint.current
      return after.working <= before.working && after.descriptors <= before.descriptors
    }
  }
}
