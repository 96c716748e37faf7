import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

/// The end of an output that takes what it has got more slowly than it came.
@Suite struct LiveEndTests {
  /// Has ten buffers of a second each, of which it takes one in 60 ms.
  private func output(isLive: Bool) throws -> OutputPipeline {
    let text = """
      appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream caps="video/x-vp8"
      ! identity sleep-time=60000 ! fakesink sync=false
      """
    let template = try Template(kind: .output, name: "slow", file: "slow", text: text)
    let output = try OutputPipeline(
      template.fill(), inputs: ["video": OutputPipeline.Input()], unused: [], isLive: isLive,
      factory: PipelineFactory(folder: nil), onKeyframeNeeded: { _ in }, onFailure: { Issue.record("\($0)") })
    try output.start()
    let caps = try #require(Caps("video/x-vp8"))
    for number in 0..<10 {
      let media = [UInt8(0)].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
      output.push(media, into: "video", at: .seconds(number))
    }
    return output
  }

  @Test func aFileIsWaitedForWhileItGrows() async throws {
    let output = try output(isLive: false)
    try await output.complete(within: .milliseconds(200))
    #expect(output.load.taken == 10)
    await output.stop()
  }

  /// Nobody watches any more what a slow server would get in minutes.
  @Test func aServerThatIsSlowIsToldOf() async throws {
    let output = try output(isLive: true)
    let error = await #expect(throws: PipelineFailure.self) { try await output.complete(within: .milliseconds(200)) }
    let message = try #require(error?.message)
    #expect(message.contains("did not take the last ") && message.hasSuffix(" s"), "\(message)")
    #expect(!message.contains("the last 1 s"), "\(message)")
    await output.stop()
  }
}
