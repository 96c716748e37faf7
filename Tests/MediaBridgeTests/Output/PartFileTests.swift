import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// A track that comes back in a codec of which nothing can make what its file holds.
@Suite struct PartFileTests {
  @Test func itGoesOnAsSentInAnotherPart() async throws {
    let folder = try TemporaryFolder()
    let (file, part) = (folder.path + "/a.mkv", folder.path + "/a-2.mkv")
    let factory = PipelineFactory(folder: nil)
    let planner = try OutputPlanner(Destination(location: file), factory: factory)
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
    let destination = try job.add(
      Destination(location: file), planner: planner, plan: try planner.plan([.video: TrackTraits(codec: "vp8")]),
      video: Job.Video(codec: "vp8"), factory: factory)
    let start = MediaTime.now - .seconds(3)
    for (number, unit) in try await Video.units(.vp8).prefix(10).enumerated() {
      job.media.write(unit.media(at: start + .milliseconds(40 * number)), .video, isRaw: false)
    }
    let change = try job.change(
      destination, from: "a codec that nothing makes", to: TrackTraits(codec: "vp9"), Job.Video(codec: "vp9"))
    #expect(change.encoder == nil && change.part?.location == part)
    for (number, unit) in try await Video.units(.vp9).prefix(10).enumerated() {
      job.media.write(unit.media(at: start + .milliseconds(40 * (number + 10))), .video, isRaw: false)
    }
    #expect(await job.finish(at: start + .milliseconds(800)) == [nil])
    #expect(destination.laterFiles == [part] && destination.lines.written(.video, job.media) == 20)
    for (file, codec) in [(file, "vp8"), (part, "vp9")] {
      let options = ["-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames"]
      let probe = try run("ffprobe", options + ["-of", "csv=p=0", file])
      #expect(probe.output == "\(codec),10\n" && probe.errors.isEmpty, "\(file): \(probe.output)\(probe.errors)")
    }
  }
}
