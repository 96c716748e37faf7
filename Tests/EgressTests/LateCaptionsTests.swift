import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What is said at the end of a part, which is known only when that is complete.
@Suite struct LateCaptionsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// One that has a track for what is said.
  private func stage(_ location: String) throws -> OutputStage {
    let text = """
      funnel name=all ! fakesink async=false
      appsrc name=audio max-buffers=1000 max-bytes=0 caps="audio/x-opus" ! all.
      """
    let template = try Template(kind: .output, name: "one", file: "one", text: text)
    let pipeline = try OutputPipeline(
      template.fill(), inputs: ["audio": OutputPipeline.Input()], unused: [], factory: PipelineFactory(folder: nil),
      onKeyframeNeeded: { _ in }, onFailure: { Issue.record("\($0)") })
    return try OutputStage(
      Destination(location: location), template: "one", pipeline: pipeline, claim: nil, hasCaptions: true)
  }

  /// - Parameter hasFile: whether there is a file beside the media, which has it all the same.
  @Test(arguments: [true, false]) func itIsToldThatItIsNotInTheTrack(_ hasFile: Bool) async throws {
    let captions = DestinationCaptions(CaptionPlace())
    let caps = try #require(Caps("audio/x-opus"))
    let media = [UInt8(0)].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    var stages: [OutputStage] = []
    for (name, begin) in [("a", Duration.zero), ("b", Duration.seconds(10))] {
      let made = try stage("\(folder.path)/\(name).mkv")
      let file = try hasFile ? captions.claim(beside: made.destination) : nil
      captions.add(file, of: made)
      made.push(media, into: "audio", at: FeedTime(shown: .zero), from: begin)
      stages.append(made)
    }
    captions.add(CaptionCue(start: .seconds(7), end: .seconds(8), speaker: "Alice", text: "in time"), naming: false)
    captions.advance(to: .seconds(9))
    #expect(captions.status.lateCues == 0 && captions.status.failure == nil)
    await stages[0].discard()
    captions.add(CaptionCue(start: .seconds(9), end: .seconds(11), speaker: "Alice", text: "late"), naming: false)
    captions.advance(to: .seconds(12))
    let status = captions.status
    #expect(status.lateCues == 1 && status.cues == (hasFile ? 3 : 0))
    #expect((status.failure?.message.contains("a.mkv") == true) == !hasFile, "\(String(describing: status.failure))")
    captions.end()
    await stages[1].discard()
  }

  @Test func whatIsSaidLastMakesNoFileLonger() async throws {
    let captions = DestinationCaptions(CaptionPlace())
    let caps = try #require(Caps("audio/x-opus"))
    let stage = try stage("\(folder.path)/a.mkv")
    let file = try #require(try captions.claim(beside: stage.destination))
    captions.add(file, of: stage)
    let media = [UInt8(0)].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    stage.push(media, into: "audio", at: FeedTime(shown: .zero), from: .zero)
    let last = CaptionCue(start: .seconds(59), end: .seconds(66), speaker: "Alice", text: "at the end")
    captions.add(last, naming: false)
    captions.advance(to: nil, end: .seconds(60))
    var seen = last
    seen.end = .seconds(60)
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == WebVTT.file(of: [seen]))
    captions.end()
    await stage.discard()
  }

  /// One of several that is removed, or fails, while the job goes on.
  @Test func whatIsSaidLastMakesNoFileLongerThatEndsFirst() async throws {
    let job = Job(beginsWithVideo: false, onKeyframeNeeded: {}, onChange: {})
    let factory = PipelineFactory(folder: nil)
    let destination = Destination(argument: "\(folder.path)/a.ogg")
    let planner = try OutputPlanner(destination, factory: factory)
    let file = try CaptionPlace().claim(beside: destination)
    let output = try job.add(
      destination, planner: planner, plan: try planner.plan([.audio: TrackTraits(codec: "opus")]), video: Job.Video(),
      factory: factory, captions: DestinationCaptions.Start(place: CaptionPlace(), file: file))
    let silence = try #require(AudioStandIn(isRaw: false))
    let start = MediaTime.now
    for step in 0..<50 {
      let block = silence.block.withUnsafeBytes {
        MediaBuffer(
          copying: $0, caps: silence.caps, pts: start + .milliseconds(20) * step, duration: .milliseconds(20))
      }
      job.media.write(block, .audio, isRaw: false)
    }
    let last = CaptionCue(start: .milliseconds(200), end: .seconds(7), speaker: "Alice", text: "at the end")
    output.captions?.add(last, naming: false)
    await job.end(output).value
    var seen = last
    seen.end = .seconds(1)
    #expect(output.end == seen.end)
    let text = WebVTT.file(of: [seen])
    try await eventually("the cue") { (try? String(contentsOfFile: file.path, encoding: .utf8)) == text }
  }
}
