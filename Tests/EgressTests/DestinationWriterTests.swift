import BridgeTesting
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What waits for the keyframe of the next part.
@Suite struct DestinationWriterTests {
  private static let inputs = ["video", "audio"] + (2...21).map { OutputInput.voice($0).name }

  private let lines: [String: FeedLine]

  init() throws {
    var lines: [String: FeedLine] = [:]
    for name in Self.inputs {
      let kind = name == "video" ? Track.Kind.video : .audio
      lines[name] = try FeedLine(kind, .asSent, caps: nil, factory: PipelineFactory(folder: nil)) {}
    }
    self.lines = lines
  }

  private func stage() throws -> OutputStage {
    let sources = Self.inputs.map { "appsrc name=\($0) max-buffers=1000 max-bytes=0 caps=\"audio/x-opus\" ! all." }
    let text = (["funnel name=all ! fakesink async=false"] + sources).joined(separator: "\n")
    let template = try Template(kind: .output, name: "many", file: "many", text: text)
    let inputs = Self.inputs.reduce(into: [String: OutputPipeline.Input]()) { $0[$1] = OutputPipeline.Input() }
    let pipeline = try OutputPipeline(
      template.fill(), inputs: inputs, unused: [], factory: PipelineFactory(folder: nil), onKeyframeNeeded: { _ in },
      onFailure: { Issue.record("\($0)") })
    return try OutputStage(Destination(location: "many"), template: "many", pipeline: pipeline, claim: nil)
  }

  private func push(_ input: String, at time: Duration, into writer: DestinationWriter) throws {
    let (line, caps) = (try #require(lines[input]), try #require(Caps("audio/x-opus")))
    let media = [UInt8(0)].withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
    writer.take(media, into: input, from: line, at: FeedTime(shown: time))
  }

  /// It has a frame of the first stage, and the second one is to begin a second later.
  private func writer(of stages: [OutputStage]) throws -> DestinationWriter {
    let turns = stages.map { DestinationWriter.Turn(stage: $0, lines: lines.mapValues(\.id)) }
    let writer = DestinationWriter(turns[0], from: nil, onOver: { _, _ in }, onPastEnd: {})
    try push("video", at: .zero, into: writer)
    var next = turns[1]
    next.earliest = .seconds(1)
    _ = writer.prepare(next)
    return writer
  }

  private func pushed(_ stage: OutputStage) -> Int {
    let load = stage.load
    return load.taken + load.waiting
  }

  /// Twenty voices are a thousand buffers a second.
  @Test func audioWaitsForTheVideoHoweverManySpeak() async throws {
    let stages = [try stage(), try stage()]
    let writer = try writer(of: stages)
    for step in 50..<150 {
      for input in Self.inputs where input != "video" { try push(input, at: .milliseconds(20) * step, into: writer) }
    }
    try push("video", at: .seconds(1), into: writer)
    #expect(stages.map(pushed) == [1, 1 + 21 * 100])
    for stage in stages { await stage.discard() }
  }

  /// A media thread may say that one is over when it is ended with all the others.
  @Test func aStageIsEndedOnce() async throws {
    let ended = Collector<Int>()
    let list = StageList(Breakage(of: Destination(location: "many"), onChange: {})) { ended.add(0) }
    let stages = [try stage(), try stage()]
    for stage in stages { list.add(stage) }
    list.end(stages[0])
    #expect(list.open.map { ObjectIdentifier($0) } == [ObjectIdentifier(stages[1])])
    list.end(stages[0], before: stages[1])
    for stage in list.open { list.end(stage) }
    #expect(list.open.isEmpty)
    try? await list.finish()
    #expect(ended.count == 2)
  }

  /// That a part could not be completed is known while the next one is written.
  @Test func aPartThatCannotBeCompletedIsKnownAtOnce() async throws {
    let breakage = Breakage(of: Destination(location: "many"), onChange: {})
    let list = StageList(breakage) {}
    let stages = [try stage(), try stage()]
    for stage in stages { list.add(stage) }
    breakage.note(LiveKitError(.output, "the disk is gone"))
    list.end(stages[0], before: stages[1])
    try await eventually("why it is not complete") { list.lacks.map(\.message) == ["many: the disk is gone"] }
    #expect(list.open.map { ObjectIdentifier($0) } == [ObjectIdentifier(stages[1])])
    await stages[1].discard()
  }

  /// It ends while the encoder is behind: what is heard in the last part is in the last part.
  @Test func anEndLeavesTheAudioToThePartThatIsYetToBegin() async throws {
    let stages = [try stage(), try stage()]
    let writer = try writer(of: stages)
    for step in 50..<60 { try push("audio", at: .milliseconds(20) * step, into: writer) }
    writer.finish(at: .milliseconds(1100))
    #expect(stages.map(pushed) == [1, 0])
    try push("video", at: .seconds(1), into: writer)
    #expect(stages.map(pushed) == [1, 1 + 5])
    for stage in stages { await stage.discard() }
  }
}
