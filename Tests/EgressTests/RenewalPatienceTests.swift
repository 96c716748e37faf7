import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// How long a changed encode template is waited for.
@Suite struct RenewalPatienceTests {
  private let folder: TemporaryFolder
  private let start = MediaTime.now - .seconds(3)

  init() throws {
    folder = try TemporaryFolder(
      template: "output/film",
      """
      matroskamux name=mux ! filesink location=${location}
      appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream
        caps="video/x-h264,stream-format=avc,alignment=au" ! mux.
      """)
  }

  private func add(to job: Job) throws -> JobDestination {
    let factory = PipelineFactory(folder: folder.path)
    let destination = Destination(argument: "film=\(folder.path)/a.mkv")
    let planner = try OutputPlanner(destination, factory: factory)
    return try job.add(
      destination, planner: planner, plan: try planner.plan([.video: TrackTraits(codec: "vp8")]), video: video,
      factory: factory)
  }
  private let video = Job.Video(codec: "vp8", size: Dimensions(width: 320, height: 180))

  /// Has its encoder be another one, to which nothing comes yet.
  private func renew(_ output: JobDestination, in job: Job) throws {
    let encoder = try #require(output.plan.feeds[.video]?.encoder)
    let text = try PipelineFactory(folder: nil).template(.encode, encoder).text
    try FileManager.default.createDirectory(atPath: folder.path + "/encode", withIntermediateDirectories: false)
    try text.write(toFile: folder.path + "/encode/\(encoder).pipeline", atomically: true, encoding: .utf8)
    let planner = try OutputPlanner(output.destination, factory: PipelineFactory(folder: folder.path))
    let plan = try planner.plan([.video: TrackTraits(codec: "vp8")])
    let setup = JobDestination.Setup(planner: planner, plan: plan)
    #expect(try job.renew(output, setup, [TemplateName(.encode, encoder)], video))
  }

  /// No frame goes into an encoder meanwhile.
  @Test func aPauseDoesNotCount() async throws {
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
    let output = try add(to: job)
    try job.show(0..<5, from: start)
    try await eventually("the first keyframe") { job.encoders.allSatisfy(\.hasBegun) }
    try renew(output, in: job)
    let moment = MediaTime.now
    func isUnsettled(after seconds: Int) throws -> Bool {
      try output.settleRenewal(job.media, at: moment + .seconds(seconds)) == nil && output.writer.waiting != nil
    }
    #expect(job.media.pause(at: moment))
    #expect(try isUnsettled(after: 9))
    #expect(job.media.resume(at: moment + .seconds(10)))
    #expect(try isUnsettled(after: 14))
    let error = #expect(throws: LiveKitError.self) { _ = try isUnsettled(after: 16) }
    #expect(error?.message.contains("no keyframe has come") == true && output.writer.waiting == nil)
    job.retireLines()
    _ = await job.finish(at: start + .milliseconds(200))
  }
}
