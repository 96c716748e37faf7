import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

/// What goes into a file waits for more of it, what goes elsewhere does not.
@Suite struct WrittenBatchesTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/output" }

  init() throws { folder = try TemporaryFolder() }

  /// A pipeline that writes one byte for each buffer.
  private func output(queue: Int = 1000) throws -> OutputPipeline {
    let text = """
      appsrc name=video max-buffers=${queue} max-bytes=0 leaky-type=downstream caps="video/x-vp8"
      ! filesink location=${location} buffer-mode=unbuffered
      """
    let template = try Template(kind: .output, name: "bytes", file: "bytes", text: text)
    let output = try OutputPipeline(
      template.fill(["location": path, "queue": "\(queue)"]), inputs: ["video": OutputPipeline.Input()], unused: [],
      factory: PipelineFactory(folder: nil), onKeyframeNeeded: { _ in }, onFailure: { Issue.record("\($0)") })
    try output.start()
    return output
  }

  /// Buffers that hold their number and are 40 ms long.
  private func push(_ numbers: Range<UInt8>, into output: OutputPipeline) throws {
    let caps = try #require(Caps("video/x-vp8"))
    for number in numbers {
      let media = [number].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
      output.push(media, into: "video", at: .milliseconds(40 * Int64(number)))
    }
  }

  private var written: [UInt8] { FileManager.default.contents(atPath: path).map(Array.init) ?? [] }

  @Test func aFileGrowsWhileItIsWrittenAndEndsWithAllOfIt() async throws {
    let output = try output()
    try push(0..<4, into: output)
    try await eventually("what is first") { written == [0] }
    #expect(output.fullness(of: "video") == 0.003)
    try push(4..<8, into: output)
    try await eventually("what was not to wait any longer") { written == Array(0..<7) }
    try push(8..<10, into: output)
    try await output.complete()
    #expect(written == Array(0..<10) && output.dropped["video"] == 0)
    await output.stop()
  }

  @Test func smallQueuesAreNotFilledByWhatWaits() async throws {
    let output = try output(queue: 10)
    try push(0..<1, into: output)
    try await eventually("the first") { written == [0] }
    try await output.complete()
    await output.stop()
  }

  @Test func whoReadsAPipeGetsEachAtOnce() async throws {
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let output = try output()
    let got = Locked<[UInt8]>([])
    for number in UInt8(0)..<3 {
      try push(number..<number + 1, into: output)
      try await eventually("number \(number)") {
        var byte = UInt8.max
        if read(reader, &byte, 1) == 1 { got.withLock { $0.append(byte) } }
        return got.withLock { $0 } == Array(0...number)
      }
    }
    try await output.complete()
    await output.stop()
  }
}
