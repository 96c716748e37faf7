import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// Makes the pipelines of a destination, one for each stage.
struct StageMaker: Sendable {
  let factory: PipelineFactory
  let lines: DestinationLines

  /// - Parameters:
  ///   - destination: where this one writes.
  ///   - before: whose playlist it goes on with; nil for one of its own.
  ///   - hold: where it waits for the end of the stage before.
  ///   - onFailure: told why it cannot go on, on the thread that all pipelines share.
  func make(
    _ plan: OutputPlan, at destination: Destination, after before: SegmentedOutput? = nil, claim: FileClaim?,
    hold: StageHold? = nil, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) -> OutputStage {
    if destination.isFile {
      let file = destination.location
      try FileClaim.asking(file) { () throws(LiveKitError) in try FileClaim.checkWritable(file) }
    }
    let segments = try SegmentedOutput(
      plan, at: destination, after: before, claim: claim, clock: OutputClock { [lines] in lines.uptime(of: $0) },
      hasVideo: plan.feeds[.video] != nil, onFailure: onFailure)
    do throws(LiveKitError) {
      return try OutputStage(
        destination, template: plan.template, pipeline: try pipeline(plan, at: destination, segments, onFailure),
        claim: claim, segments: segments, hasCaptions: plan.hasCaptions, hold: hold, onFailure: onFailure)
    } catch {
      // The stage before goes on with its playlist to the end.
      segments?.abandon()
      throw error
    }
  }

  private func pipeline(
    _ plan: OutputPlan, at destination: Destination, _ segments: SegmentedOutput?,
    _ onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) -> OutputPipeline {
    let onSegmentData = segments.map { segments in { @Sendable (media: MediaBuffer) in segments.take(media) } }
    return try LiveKitError.wrapping { () throws(PipelineFailure) in
      try OutputPipeline(
        factory.fill(plan.read.output, values: destination.values), inputs: inputs(plan, destination),
        voices: plan.voices.map(\.number),
        unused: OutputPlanner.inputs.filter { plan.feeds[$0.key] == nil }.map(\.value.output),
        isLive: destination.isLive, factory: factory,
        onKeyframeNeeded: { [lines] in lines.requestKeyframe(ofInput: $0) },
        onSegmentData: onSegmentData, onSizeChange: { [lines] in lines.noteOtherSize() },
        onFailure: { onFailure(LiveKitError($0)) })
    }
  }

  private func inputs(_ plan: OutputPlan, _ destination: Destination) -> [String: OutputPipeline.Input] {
    var inputs: [String: OutputPipeline.Input] = [:]
    for (kind, feed) in plan.feeds {
      guard let name = OutputPlanner.inputs[kind]?.output else { continue }
      // What an encoder makes says its format itself.
      let caps = kind == .audio && feed.encoder == nil ? AudioStandIn(isRaw: feed.way == .raw)?.caps : nil
      inputs[name] = OutputPipeline.Input(
        parser: feed.parser, caps: caps, followsFormat: kind == .video && feed.way == .raw,
        interval: kind == .video ? plan.segments?.imageInterval : nil)
    }
    if plan.hasCaptions {
      inputs[CaptionInput.name] = OutputPipeline.Input(caps: Caps.text)
      inputs[CaptionInput.name]?.isSparse = true
    }
    for voice in plan.voices {
      guard let feed = plan.voiceFeed else { continue }
      let caps = feed.encoder == nil ? AudioStandIn(isRaw: feed.way == .raw)?.caps : nil
      var input = OutputPipeline.Input(parser: feed.parser, caps: caps)
      input.title = voice.title
      inputs[OutputInput.voice(voice.number).name] = input
    }
    // Without a title of the file, FFmpeg takes that of an MP4's last track for it.
    if !plan.voices.isEmpty {
      inputs["audio"]?.title = ((destination.location as NSString).lastPathComponent as NSString).deletingPathExtension
      inputs["audio"]?.isTitleOfFile = true
    }
    return inputs
  }
}

/// Why a destination cannot go on; the first reason stays.
final class Breakage: Sendable {
  private let destination: Destination
  private let onChange: @Sendable () -> Void
  private let reason = Locked<LiveKitError?>(nil)

  init(of destination: Destination, onChange: @escaping @Sendable () -> Void) {
    (self.destination, self.onChange) = (destination, onChange)
  }

  var error: LiveKitError? { reason.withLock { $0 } }

  /// From any thread.
  func note(_ error: LiveKitError) { note(whole: error.about(destination)) }

  /// - Parameter error: names the destination itself.
  func note(whole error: LiveKitError) {
    reason.withLock { $0 = $0 ?? error }
    onChange()
  }
}

/// The lines that feed a destination, and how much came on them for it.
final class DestinationLines: Sendable {
  private struct Fed: Sendable {
    var line: FeedLine
    /// What came for the destination on other lines, less what came on this one before it was its own.
    var base = 0
    /// The same of what encoders dropped.
    var droppedBase = 0
    /// All that came, once nothing does any more.
    var last: Int?
  }
  private let fed: Locked<[OutputInput: Fed]>
  /// Lines that fed it, of which there may still come what is older than the newest change.
  private let retiring = Locked<[FeedLine]>([])
  private let media: JobMedia
  /// Whether its video has gone on in a size that not all players find, and whether that was told.
  private let size = Locked((isOther: false, isTold: false))

  /// What has come on the lines so far is for others.
  init(_ lines: [OutputInput: FeedLine], _ media: JobMedia) {
    self.media = media
    fed = Locked(lines.mapValues { Fed(line: $0, base: -media.written(on: $0), droppedBase: -$0.dropped) })
  }

  /// How long the machine was up when a moment of the job took place, pauses and sleep and all; nil before the first.
  func uptime(of time: Duration) -> Duration? { media.moment(of: time).map(media.uptime(at:)) }

  subscript(input: OutputInput) -> FeedLine? { fed.withLock { $0[input]?.line } }

  /// The one whose keyframe a stage begins with.
  var leader: FeedLine? { self[.video] ?? self[.audio] }

  /// All that feed it.
  var all: [OutputInput: FeedLine] { fed.withLock { $0.mapValues(\.line) } }

  /// By the name of the template's input.
  var byInput: [String: ObjectIdentifier] {
    fed.withLock { fed in fed.reduce(into: [:]) { $0[$1.key.name] = $1.value.line.id } }
  }

  /// What feeds it from now on; other lines that do now retire.
  func set(_ lines: [OutputInput: FeedLine]) {
    let before = all
    for (input, line) in lines where before[input] !== line { replace(input, by: line, media) }
    fed.withLock { fed in fed = fed.filter { lines[$0.key] != nil } }
    retiring.withLock { retiring in
      retiring.removeAll { line in lines.values.contains { $0 === line } }
      retiring += before.filter { lines[$0.key] !== $0.value }.map(\.value)
    }
  }

  /// All of which something may still come.
  var allOpen: [FeedLine] { all.values + retiring.withLock { $0 } }

  var areRetiring: Bool { retiring.withLock { !$0.isEmpty } }

  /// Forgets those that have retired.
  /// - Parameter used: lines of which something is or will be taken.
  /// - Returns: the others.
  func takeRetired(besides used: Set<ObjectIdentifier>) -> [FeedLine] {
    retiring.withLock { retiring in
      defer { retiring.removeAll { !used.contains($0.id) } }
      return retiring.filter { !used.contains($0.id) }
    }
  }

  /// Puts a line in the place of one, or beside the others.
  func replace(_ input: OutputInput, by line: FeedLine, _ media: JobMedia) {
    let base = written(input, media) - media.written(on: line)
    let droppedBase = dropped(input) - line.dropped
    fed.withLock { $0[input] = Fed(line: line, base: base, droppedBase: droppedBase) }
  }

  /// Its video has gone on in a size that not all players find; on a media thread.
  func noteOtherSize() { size.withLock { $0.isOther = true } }

  /// - Returns: whether it has, once.
  func takeSizeNews() -> Bool {
    size.withLock { size in
      defer { size.isTold = size.isOther }
      return size.isOther && !size.isTold
    }
  }

  /// Notes what came; nothing does from here on.
  func end(_ media: JobMedia) {
    for input in fed.withLock({ Array($0.keys) }) {
      let last = written(input, media)
      fed.withLock { $0[input]?.last = last }
    }
  }

  /// Frames or blocks of audio that came for the destination.
  func written(_ input: OutputInput, _ media: JobMedia) -> Int {
    guard let fed = fed.withLock({ $0[input] }) else { return 0 }
    return fed.last ?? fed.base + media.written(on: fed.line)
  }

  /// What encoders dropped of it because they did not keep up.
  func dropped(_ input: OutputInput) -> Int {
    fed.withLock { $0[input] }.map { $0.droppedBase + $0.line.dropped } ?? 0
  }

  func requestKeyframe(ofInput name: String) {
    all.first { $0.key.name == name }?.value.requestKeyframe()
  }
}
