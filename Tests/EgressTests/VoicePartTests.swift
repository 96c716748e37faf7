import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// Parts that begin with another track.
@Suite struct VoicePartTests {
  private let folder: TemporaryFolder
  /// Where the template writes: without it no other pipeline of it can be opened.
  private let written: TemporaryFolder
  private let start = MediaTime.now - .seconds(8)

  private static let voices = """
    appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! mux.audio_0
    appsrc name=audio-N max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! mux.audio_N
    """

  init() throws {
    written = try TemporaryFolder()
    folder = try TemporaryFolder(
      template: "output/voices", "matroskamux name=mux ! filesink location=\(written.path)/a.mkv\n" + Self.voices)
    let film = """
      matroskamux name=mux ! filesink location=${location}
      appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream
        caps="video/x-h264,stream-format=avc,alignment=au" ! mux.
      \(Self.voices)
      """
    try film.write(toFile: folder.path + "/output/film.pipeline", atomically: true, encoding: .utf8)
  }

  private func add(
    _ name: String = "voices", _ tracks: [Track.Kind: TrackTraits] = [.audio: TrackTraits(codec: "opus")], to job: Job
  ) throws -> JobDestination {
    let factory = PipelineFactory(folder: folder.path, overrides: ["gop": "1000"])
    let destination = Destination(argument: "\(name)=\(folder.path)/a.mkv")
    let planner = try OutputPlanner(destination, factory: factory)
    let video = Job.Video(codec: "vp8", size: Dimensions(width: 320, height: 180))
    return try job.add(
      destination, planner: planner, plan: try planner.plan(tracks), video: video, factory: factory)
  }

  /// As many as a part has at least before another one begins.
  private func write(_ steps: Range<Int> = 0..<300, into job: Job) throws {
    let silence = try #require(AudioStandIn(isRaw: false))
    for step in steps {
      let block = silence.block.withUnsafeBytes {
        MediaBuffer(
          copying: $0, caps: silence.caps, pts: start + .milliseconds(20) * step, duration: .milliseconds(20))
      }
      job.media.write(block, .audio, isRaw: false)
    }
  }

  /// The voice would be fed into what has no input for it, and every later part would lack it.
  @Test func onePartThatCannotBeOpenedChangesNothing() async throws {
    let job = Job(beginsWithVideo: false, onKeyframeNeeded: {}, onChange: {})
    let (output, voice) = (try add(to: job), Voice(number: 2, title: "alice"))
    try write(into: job)
    try FileManager.default.removeItem(atPath: written.path)
    #expect(throws: LiveKitError.self) { try job.give(output, [voice]) }
    #expect(output.plan.voices.isEmpty && output.lines[.voice(2)] == nil && output.laterFiles.isEmpty)
    #expect(!job.wants(.audio, voice: 2, isRaw: false), "nothing is made that nobody takes")
    try FileManager.default.createDirectory(atPath: written.path, withIntermediateDirectories: false)
    try job.give(output, [voice])
    #expect(output.plan.voices == [voice] && output.lines[.voice(2)] != nil && output.failure == nil)
    #expect(job.wants(.audio, voice: 2, isRaw: false))
    // That nothing lies under the names of its files is another matter.
    _ = await job.finish(at: .now)
  }

  /// On a busy machine mixing and encoding frames takes longer.
  @Test func audioThatIsAheadOfTheVideoHasItsFramesInTheSamePart() async throws {
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
    let tracks = [Track.Kind.video: TrackTraits(codec: "vp8"), .audio: TrackTraits(codec: "opus")]
    let output = try add("film", tracks, to: job)
    try show(0..<5, in: job)
    try await eventually("the first keyframe") { job.encoders.allSatisfy(\.hasBegun) }
    try show(5..<135, in: job)
    try write(into: job)
    try job.give(output, [Voice(number: 2, title: "alice")])
    try show(135..<180, in: job)
    try write(300..<360, into: job)
    #expect(await job.finish(at: start + .seconds(7.2)) == [nil])
    #expect(output.laterFiles.count == 1)
    #expect(output.writer.part.begin == .seconds(6), "audio was written until then, frames until 5.4 s")
  }

  /// Decoded frames, 40 ms apart.
  private func show(_ numbers: Range<Int>, in job: Job) throws {
    let black = try #require(MediaBuffer.blackFrame(width: 320, height: 180))
    for number in numbers {
      let frame = black.withUnsafeBytes {
        MediaBuffer(copying: $0, caps: black.caps, pts: start + .milliseconds(40) * number)
      }
      job.media.write(frame, .video, isRaw: true)
    }
  }
}
