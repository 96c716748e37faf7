import BridgeTesting
import Dispatch
import Foundation
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What the parts of a playlist are called.
@Suite struct SegmentPartTests {
  /// Their playlist may have been moved away, or removed.
  @Test func segmentsWithoutAPlaylistAreNotWrittenOver() async throws {
    let folder = try TemporaryFolder()
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
    let factory = PipelineFactory(folder: nil)
    let destination = Destination(location: "\(folder.path)/a.m3u8")
    let planner = try OutputPlanner(destination, factory: factory)
    let output = try job.add(
      destination, planner: planner, plan: try planner.plan([.video: TrackTraits(codec: "vp8")]),
      video: Job.Video(codec: "vp8", size: Dimensions(width: 320, height: 180)), factory: factory,
      claim: try FileClaim(destination.location))
    #expect(try output.nextPart.location == "\(folder.path)/a-2.m3u8")
    for name in ["a-2_00000.ts", "a-3_init.mp4"] {
      try "something".write(toFile: "\(folder.path)/\(name)", atomically: false, encoding: .utf8)
    }
    #expect(try output.nextPart.location == "\(folder.path)/a-4.m3u8")
    try await expectNoAnswer(of: output)
    output.abandon()
    _ = await job.finish(at: .now)
  }

  /// Of a disk that does not answer, it is told at once.
  private func expectNoAnswer(of output: JobDestination) async throws {
    let gate = DispatchSemaphore(value: 0)
    let file = output.destination.location
    #expect(throws: LiveKitError.self) { try FileClaim.asking(file, within: .milliseconds(20)) { gate.wait() } }
    let error = #expect(throws: LiveKitError.self) { _ = try output.nextPart }
    #expect(error?.message.contains("does not answer") == true)
    gate.signal()
    try await eventually("its answer") { (try? output.nextPart) != nil }
  }
}
