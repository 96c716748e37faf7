import BridgeTesting
import Foundation
import GStreamerKit
import MediaPipelines
import PipelineTemplates
import Testing

/// How many frames a template takes that leaves its rate to Swift.
@Suite struct CapturePaceTests {
  /// The shipped way to a screen behind another source: frames of Wayland's desktops come at no rate that is known.
  private static func text(rate: Int, frames: Int) throws -> String {
    let shipped = try PipelineFactory(folder: nil).template(.capture, "screen-portal").text
    let rest = try #require(shipped.range(of: "! video/x-raw"))
    let head = shipped[..<rest.lowerBound].split(separator: "\n").filter { $0.hasPrefix("#:") }.joined(separator: "\n")
    return """
      \(head)
      videotestsrc num-buffers=\(frames) ! video/x-raw,format=BGRx,width=32,height=16,framerate=\(rate)/1
      ! capssetter replace=true caps="video/x-raw,format=BGRx,width=32,height=16,framerate=0/1"
      \(shipped[rest.lowerBound...])
      """
  }

  @Test(arguments: [("10/1", 20), ("15/2", 15), ("100/1", 100)])
  func framesBeyondTheRateAreLeftOut(rate: String, count: Int) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/capture", withIntermediateDirectories: true)
    try Self.text(rate: 50, frames: 100).write(
      toFile: folder.path + "/capture/paced.pipeline", atomically: true, encoding: .utf8)
    let (frames, end) = (Collector<Int>(), Collector<Bool>())
    let factory = PipelineFactory(folder: folder.path, overrides: ["framerate": rate])
    let capture = try CapturePipeline(
      "paced", factory: factory,
      .init(media: { _, _, _ in frames.add(1) }, end: { end.add(true) }, failure: { _ in end.add(false) }))
    try await eventually { end.count > 0 }
    // One that is a little early is taken, too.
    #expect(end.values.first == true && [count, count + 1].contains(frames.count), "\(frames.count)")
    await capture.stop()
  }

  @Test func aRateThatIsNoneIsRefused() throws {
    let factory = PipelineFactory(folder: nil, overrides: ["framerate": "fast"])
    let error = #expect(throws: PipelineFailure.self) {
      _ = try CapturePipeline(
        "screen-portal", factory: factory, .init(media: { _, _, _ in }, end: {}, failure: { _ in }))
    }
    // Where PipeWire's elements are missing, that is what is said.
    #expect(error?.message.contains("framerate") == true || error?.message.contains("pipewiresrc") == true)
  }
}
