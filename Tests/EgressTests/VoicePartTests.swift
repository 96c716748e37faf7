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

  init() throws {
    written = try TemporaryFolder()
    let text = """
      matroskamux name=mux ! filesink location=\(written.path)/a.mkv
      appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! mux.audio_0
      appsrc name=audio-N max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus" ! mux.audio_N
      """
    folder = try TemporaryFolder(template: "output/voices", text)
  }

  private func add(to job: Job) throws -> JobDestination {
    let factory = PipelineFactory(folder: folder.path)
    let destination = Destination(argument: "voices=\(folder.path)/a.mkv")
    let planner = try OutputPlanner(destination, factory: factory)
    return try job.add(
      destination, planner: planner, plan: try planner.plan([.audio: TrackTraits(codec: "opus")]),
      video: Job.Video(), factory: factory)
  }

  /// As many as a part has at least before another one begins.
  private func write(into job: Job) throws {
    let silence = try #require(AudioStandIn(isRaw: false))
    for step in 0..<300 {
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
}
