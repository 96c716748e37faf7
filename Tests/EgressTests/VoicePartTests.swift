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
    let videos = ["film": "video/x-h264,stream-format=avc,alignment=au", "sent": "video/x-vp8"]
    for (name, caps) in videos {
      let video = "appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream caps=\"\(caps)\" ! mux.\n"
      try save(name, video)
    }
    try save("heard", "")
  }

  private func save(_ name: String, _ video: String) throws {
    let text = "matroskamux name=mux ! filesink location=${location}\n" + video + Self.voices
    try text.write(toFile: folder.path + "/output/\(name).pipeline", atomically: true, encoding: .utf8)
  }

  private func add(
    _ name: String = "voices", _ tracks: [Track.Kind: TrackTraits] = [.audio: TrackTraits(codec: "opus")],
    parts: PartLimit? = nil, to job: Job
  ) throws -> JobDestination {
    // What is set for an encoder has the video encoded.
    let factory = PipelineFactory(folder: folder.path, overrides: name == "sent" ? [:] : ["gop": "1000"])
    let destination = Destination(argument: "\(name)=\(folder.path)/a.mkv")
    let planner = try OutputPlanner(destination, factory: factory)
    let video = Job.Video(codec: "vp8", size: Dimensions(width: 320, height: 180))
    return try job.add(
      destination, planner: planner, plan: try planner.plan(tracks), video: video, factory: factory, parts: parts)
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
    try job.show(0..<5, from: start)
    try await eventually("the first keyframe") { job.encoders.allSatisfy(\.hasBegun) }
    try job.show(5..<135, from: start)
    try write(into: job)
    try job.give(output, [Voice(number: 2, title: "alice")])
    try job.show(135..<180, from: start)
    try write(300..<360, into: job)
    #expect(await job.finish(at: start + .seconds(7.2)) == [nil])
    #expect(output.laterFiles.count == 1)
    #expect(output.writer.part.begin == .seconds(6), "audio was written until then, frames until 5.4 s")
  }

  /// They are shorter than what a part lasts before one begins for a voice.
  @Test func shortPartsHaveATrackOfWhoeverComesLater() async throws {
    let job = Job(beginsWithVideo: false, onKeyframeNeeded: {}, onChange: {})
    let output = try add("heard", parts: PartLimit(duration: .seconds(4)), to: job)
    let voice = Voice(number: 2, title: "alice")
    try write(0..<160, into: job)
    try await eventually("the second part") { output.writer.waiting != nil }
    try await eventually("what feeds the voice") {
      try job.give(output, [voice])
      return job.wants(.audio, voice: 2, isRaw: false)
    }
    #expect(output.plan.voices.isEmpty && output.laterFiles.count == 1)
    try write(160..<360, into: job)
    try await eventually("the third part") { output.writer.waiting != nil && output.laterFiles.count == 2 }
    #expect(output.plan.voices == [voice] && output.lines[.voice(2)] != nil)
    try write(360..<450, into: job)
    #expect(output.writer.part.begin == .seconds(8))
    #expect(await job.finish(at: .now) == [nil])
  }

  /// Nothing of it is to go on where the destination ends before that part.
  @Test func whoWaitsForAPartIsForgottenWithTheDestination() async throws {
    let job = Job(beginsWithVideo: false, onKeyframeNeeded: {}, onChange: {})
    let output = try add("heard", parts: PartLimit(duration: .seconds(60)), to: job)
    try write(0..<50, into: job)
    try job.give(output, [Voice(number: 2, title: "alice")])
    #expect(job.wants(.audio, voice: 2, isRaw: false))
    await job.end(output).value
    #expect(!job.wants(.audio, voice: 2, isRaw: false))
  }

  /// An encoder may pass over what it was asked for, and a sender may not hear it.
  @Test func theKeyframeThatAPartBeginsWithIsAskedForAgain() async throws {
    let asked = Collector<Int>()
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: { asked.add(0) }, onChange: {})
    let tracks = [Track.Kind.video: TrackTraits(codec: "vp8"), .audio: TrackTraits(codec: "opus")]
    let (output, voice) = (try add("sent", tracks, to: job), Voice(number: 2, title: "alice"))
    try send(0..<150, in: job)
    try write(into: job)
    let before = asked.count
    try job.give(output, [voice])
    #expect(asked.count == before + 1 && output.writer.waiting != nil)
    try send(150..<170, in: job)
    try job.give(output, [voice])
    #expect(asked.count == before + 1)
    try send(170..<180, in: job)
    for _ in 0..<2 { try job.give(output, [voice]) }
    #expect(asked.count == before + 2)
    _ = await job.finish(at: start + .seconds(7.2))
  }

  /// Nothing that comes is taken, however often it is asked for.
  @Test func noPartIsToBeginDuringAPause() async throws {
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
    let tracks = [Track.Kind.video: TrackTraits(codec: "vp8"), .audio: TrackTraits(codec: "opus")]
    let output = try add("sent", tracks, parts: PartLimit(duration: .seconds(60)), to: job)
    try send(0..<150, in: job)
    try write(into: job)
    #expect(output.goingPart(of: job.media) != nil)
    #expect(job.media.pause(at: start + .seconds(6)))
    #expect(output.goingPart(of: job.media) == nil && output.part(of: job.media) != nil)
    #expect(job.media.resume(at: start + .seconds(7)))
    #expect(output.goingPart(of: job.media) != nil)
    _ = await job.finish(at: start + .seconds(7))
  }

  /// Frames as they are sent, 40 ms apart, of which the first of all is a keyframe.
  private func send(_ numbers: Range<Int>, in job: Job) throws {
    let caps = try #require(Caps("video/x-vp8,width=320,height=180"))
    for number in numbers {
      let frame = [UInt8(0)].withUnsafeBytes {
        MediaBuffer(copying: $0, caps: caps, pts: start + .milliseconds(40) * number, isDelta: number != 0)
      }
      job.media.write(frame, .video, isRaw: false)
    }
  }
}
