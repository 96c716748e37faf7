import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// A track that comes back in a codec of which nothing can make what its file holds.
@Suite struct PartFileTests {
  private let folder: TemporaryFolder
  private let (file, part): (String, String)
  private let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
  private let destination: JobDestination
  private let start = MediaTime.now - .seconds(3)

  init() throws {
    folder = try TemporaryFolder()
    (file, part) = (folder.path + "/a.mkv", folder.path + "/a-2.mkv")
    let factory = PipelineFactory(folder: nil)
    let planner = try OutputPlanner(Destination(location: file), factory: factory)
    destination = try job.add(
      Destination(location: file), planner: planner, plan: try planner.plan([.video: TrackTraits(codec: "vp8")]),
      video: Job.Video(codec: "vp8"), factory: factory)
  }

  /// Writes ten access units as they were sent.
  private func write(_ test: StreamCase, from first: Int) async throws {
    for (number, unit) in try await Video.units(test).prefix(10).enumerated() {
      job.media.write(unit.media(at: start + .milliseconds(40 * (first + number))), .video, isRaw: false)
    }
  }

  private func change() throws {
    let change = try job.change(
      destination, from: "a codec that nothing makes", to: TrackTraits(codec: "vp9"), Job.Video(codec: "vp9"))
    #expect(change.encoder == nil && change.part?.location == part)
  }

  @Test func itGoesOnAsSentInAnotherPart() async throws {
    try await write(.vp8, from: 0)
    try change()
    try await write(.vp9, from: 10)
    #expect(await job.finish(at: start + .milliseconds(800)) == [nil])
    #expect(destination.laterFiles == [part] && destination.lines.written(.video, job.media) == 20)
    for (file, codec) in [(file, "vp8"), (part, "vp9")] {
      let options = ["-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames"]
      let probe = try run("ffprobe", options + ["-of", "csv=p=0", file])
      #expect(probe.output == "\(codec),10\n" && probe.errors.isEmpty, "\(file): \(probe.output)\(probe.errors)")
    }
  }

  @Test func aPartThatGetsNothingLeavesNothing() async throws {
    try await write(.vp8, from: 0)
    try change()
    #expect(FileManager.default.fileExists(atPath: part))
    #expect(await job.finish(at: start + .milliseconds(400)) == [nil])
    #expect(destination.laterFiles.isEmpty && !FileManager.default.fileExists(atPath: part))
  }

  /// What the new line brings before that part is due is to go on in this one.
  @Test func noPartIsOpenedWhileAnotherLineIsAboutToGoOn() async throws {
    try await write(.vp8, from: 0)
    let size = Dimensions(width: 320, height: 180)
    let change = try job.change(
      destination, from: "vp8", to: TrackTraits(codec: "vp9"), Job.Video(codec: "vp9", size: size))
    #expect(change.encoder != nil && change.part == nil && destination.writer.isChangingLines)
    try destination.openNext(from: .seconds(2), job.media)
    #expect(destination.writer.isChangingLines && destination.writer.waiting == nil && destination.laterFiles.isEmpty)
    _ = await job.finish(at: start + .milliseconds(400))
  }

  /// A publisher that is muted sends no keyframe.
  @Test func aDestinationThatComesWhileMutedBeginsBlack() async throws {
    try await write(.vp8, from: 0)
    #expect(job.media.setMuted(true, at: start + .milliseconds(400)))
    let late = Destination(location: folder.path + "/late.mkv")
    let (factory, planner) = (destination.factory, try OutputPlanner(late, factory: destination.factory))
    let added = try job.add(
      late, planner: planner, plan: try planner.plan([.video: TrackTraits(codec: "vp8")]),
      video: Job.Video(codec: "vp8"), factory: factory)
    #expect(added.state(job.media) == .active)
    #expect(await job.finish(at: .now + .seconds(2)) == [nil, nil])
    #expect(added.length(job.media) > .milliseconds(1500))
  }

  /// A keyframe is large and may come after audio that is heard with it.
  @Test func audioThatComesAheadOfTheFirstKeyframeIsHeardWithIt() async throws {
    try await write(.vp8, from: 0)
    let late = Destination(location: folder.path + "/late.mkv")
    let (factory, planner) = (destination.factory, try OutputPlanner(late, factory: destination.factory))
    let plan = try planner.plan([.video: TrackTraits(codec: "vp8"), .audio: TrackTraits(codec: "opus")])
    _ = try job.add(
      late, planner: planner, plan: plan, video: Job.Video(codec: "vp8"), factory: factory)
    let silence = try #require(AudioStandIn(isRaw: false))
    for number in 0..<20 {
      let block = silence.block.withUnsafeBytes {
        MediaBuffer(
          copying: $0, caps: silence.caps, pts: start + .milliseconds(400 + 20 * number), duration: .milliseconds(20))
      }
      job.media.write(block, .audio, isRaw: false)
    }
    try await write(.vp8, from: 10)
    #expect(await job.finish(at: start + .milliseconds(800)) == [nil, nil])
    let options = ["-v", "error", "-show_entries", "packet=codec_type,pts_time", "-of", "csv=p=0", late.location]
    let packets = try run("ffprobe", options).output.split(separator: "\n")
    for (kind, count) in [("video", 10), ("audio", 20)] {
      let times = packets.filter { $0.hasPrefix(kind) }.compactMap { Double($0.split(separator: ",")[1]) }
      #expect(times.count >= count && times.first == 0, "\(kind): \(times)")
    }
  }
}
