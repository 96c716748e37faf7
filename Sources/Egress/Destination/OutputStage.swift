import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// One pipeline of a destination with what it writes: the whole of a file or a stream, or a part of it.
final class OutputStage: Sendable {
  /// Where this pipeline writes.
  let destination: Destination
  private let template: String
  /// Whether the template has an input for what is said.
  private let hasCaptions: Bool
  /// Nil for what is no file.
  let claim: FileClaim?
  /// Nil where the template writes by itself.
  let segments: SegmentedOutput?
  let state: Locked<StageState>

  /// Opens it, unless it has to wait. Nothing is written before media is pushed. Where opening takes longer than a
  /// moment, media waits here for that, too.
  /// - Parameters:
  ///   - hasCaptions: whether the template has an input for what is said.
  ///   - hold: where the stage before has to end first, since a server takes one connection, and a playlist is written by
  ///     one: media waits here until `begin()`.
  ///   - onFailure: told why it could not be opened where that is known only later, on any thread.
  init(
    _ destination: Destination, template: String, pipeline: OutputPipeline, claim: FileClaim?,
    segments: SegmentedOutput? = nil, hasCaptions: Bool = false, hold: StageHold? = nil,
    onFailure: @escaping @Sendable (LiveKitError) -> Void = { _ in }
  ) throws(LiveKitError) {
    (self.destination, self.template, self.segments) = (destination, template, segments)
    (self.claim, self.hasCaptions, state) = (claim, hasCaptions, Locked(StageState(pipeline, hold)))
    guard hold == nil else { return }
    if let refusal = open(StageHold(onFailure: onFailure)) { throw refusal }
  }

  /// Whether media waits here for the end of the stage before.
  var isHeld: Bool { state.withLock { $0.hold != nil } }

  /// Whether media waits here since it is not open yet.
  var isOpening: Bool { state.withLock(\.isOpening) }

  private var pipeline: OutputPipeline? { state.withLock { $0.pipeline } }

  /// Media goes to this one from now on, and waits; on a media thread.
  func take() { state.withLock { $0.hold }?.onTaken() }

  /// Opens one that was to wait: the stage before has ended. Whoever calls it does so one after the other.
  func begin() {
    // Without what waits: whoever keeps it would have that copied.
    guard let hold = state.withLock({ $0.hold?.emptied }) else { return }
    segments?.takeOver()
    if let refusal = open(hold) {
      hold.onFailure(refusal)
      opened(hold)
    }
  }

  /// - Parameters:
  ///   - input: of the template.
  ///   - time: since the stage's beginning.
  ///   - beginning: of the stage, in the job.
  func push(_ media: MediaBuffer, into input: String, at time: FeedTime, from beginning: Duration) {
    segments?.clock.begin(at: beginning, reaching: media.duration.map { time.shown + $0 })
    let (held, pipeline) = state.withLock { state in
      let pipeline = state.pipeline
      state.beginning = state.beginning ?? beginning
      let time = input == OutputInput.video.name ? state.place(frameAt: time) : time
      state.reached = max(state.reached, time.shown)
      let held = StageHold.Held(media: media, input: input, time: time)
      return (held, state.keep(held) { pipeline?.fullness(of: input, besides: $0) ?? 0 >= 1 } ? nil : pipeline)
    }
    Self.write(held, into: pipeline)
  }

  /// The moment of the job at which media came first; nil before.
  var beginning: Duration? { state.withLock { $0.beginning } }

  /// Puts what is said beside the segments, or into the template's input for it, where it has one.
  /// - Parameter cue: with times since the stage's beginning.
  /// - Returns: false where one of them is to have it, and it does not run: it has ended, or waits.
  func write(_ cue: CaptionCue, naming: Bool) -> Bool {
    guard hasCaptions || segments?.captions != nil else { return true }
    let (pipeline, reached) = state.withLock { ($0.takesCaptions ? $0.pipeline : nil, $0.reached) }
    guard let pipeline else { return false }
    if let captions = segments?.captions {
      captions.add(cue)
      return true
    }
    let near = cue.near(reached)
    guard let media = MediaBuffer.text(near.plain(naming: naming), lasting: near.end - near.start) else { return false }
    pipeline.push(sparse: media, into: CaptionInput.name, at: near.start)
    return true
  }

  static func write(_ held: StageHold.Held, into pipeline: OutputPipeline?) {
    pipeline?.push(held.media, into: held.input, at: held.time.shown, decodedAt: held.time.decoded)
  }

  /// What an input gets that nothing else has come to.
  func standIn(_ media: [String: MediaBuffer]) { pipeline?.standIn(media) }

  /// How much of an input's room is taken, 0…1.
  func fullness(of input: String) -> Double {
    let (pipeline, waiting) = state.withLock { ($0.pipeline, $0.waiting) }
    return pipeline?.fullness(of: input, besides: waiting) ?? 0
  }
  /// What an input dropped because writing did not keep up.
  func dropped(at input: String) -> Int {
    let (pipeline, rest) = state.withLock { ($0.pipeline, $0.rest) }
    return (rest?.dropped ?? pipeline?.dropped ?? [:])[input] ?? 0
  }

  /// Buffers that it has taken, and those that it has not taken yet.
  var load: (taken: Int, waiting: Int) { pipeline?.load ?? (0, 0) }

  /// Whether it is to get nothing any more, since its server is away: another one takes over.
  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }
  func abandon() { state.withLock { $0.isAbandoned = true } }

  /// Whether it is written whole, and closed.
  var isComplete: Bool { state.withLock { $0.rest?.isComplete == true } }

  /// Why what is written does not end up under the file's name any more; nil while it does.
  var loss: LiveKitError? {
    let now = claim?.loss
    return state.withLock { state in
      state.loss = state.loss ?? now
      return state.loss
    }
  }

  /// Of the file, or of its segments; 0 where it is none, or does not lie under its name any more.
  var bytes: Int64 {
    guard destination.isFile, loss == nil else { return 0 }
    if let segments { return segments.bytes }
    if let rest = state.withLock({ $0.rest }) { return rest.bytes }
    return writtenBytes
  }

  private var writtenBytes: Int64 {
    if let bytes = claim?.bytes { return bytes }
    // Of a pipe, a device or a file that was given back: where what writes it hangs, its disk may not answer.
    let file = destination.location
    return (try? FileClaim.asking(file) { FileClaim.size(of: file) }) ?? 0
  }

  /// Paths of what the file lists, as far as it is complete; empty where it holds everything itself.
  var segmentFiles: [String] { segments?.files ?? [] }
  /// Paths of the files that are whole and closed: what goes in front of segments, those, and what lists them.
  var completedFiles: [String] {
    StageList.joined(
      [segments?.captions?.segments ?? [], segments?.all ?? [], isComplete ? [destination.location] : []])
  }
  /// The last of those.
  var newestCompletedFile: String? { isComplete ? destination.location : segments?.all.last }

  /// What the file really holds, once it has ended and where it is of a kind that can be read.
  var length: Duration? { state.withLock { $0.rest?.stored?.length } }

  /// Closes one that nothing has come to, or whose server is away, and gives its file back, which goes.
  /// - Returns: false where it hangs, and its file stays its own.
  @discardableResult
  func discard() async -> Bool {
    let hasStopped = await pipeline?.stop() ?? true
    guard hasStopped || !destination.isFile else { return false }
    state.withLock { $0.pipeline = nil }
    // A playlist is that of the stage before.
    if !isHeld { claim?.release() }
    return true
  }

  /// Writes what it needs to be complete, closes it and gives the file back. One that cannot be completed is cut after what
  /// plays.
  /// - Parameter failure: why it cannot be completed any more.
  /// - Throws: why it is not complete.
  func finish(after failure: @Sendable () -> LiveKitError?) async throws(LiveKitError) {
    guard let pipeline else { return }
    guard !isOpening else {
      await discard()
      throw failure() ?? Self.unopened.about(destination)
    }
    state.withLock { $0.isCompleting = true }
    let isAlone = loss == nil && destination.isFile && segments == nil
    let written = isAlone ? StoredFile(beingWritten: destination.location) : nil
    var reason = await complete(pipeline)
    let hasStopped = await pipeline.stop()
    // What hangs may still write: its file is left as it is, and as its own. A server has had all by then.
    guard hasStopped || !destination.isFile else { throw failure() ?? reason ?? Self.hangs.about(destination) }
    reason = failure() ?? reason
    let kept = finishSegments(&reason) ?? (reason == nil ? written?.read() : written?.mend())
    let rest = StageState.Rest(stored: kept, dropped: pipeline.dropped, bytes: writtenBytes)
    state.withLock { $0.end(rest) }
    if segments?.isContinued == true {
      if let reason { throw reason }
      return
    }
    defer { claim?.release() }
    if let reason { throw reason }
    do { try claim?.checkWritten(by: template) } catch {
      state.withLock { $0.loss = $0.loss ?? error }
      throw error
    }
    state.withLock { $0.complete() }
  }

  /// - Returns: why it is not complete.
  private func complete(_ pipeline: OutputPipeline) async -> LiveKitError? {
    // A disk that is away for a moment is waited for as elsewhere.
    let limit = destination.isFile ? FileClaim.usualPatience : OutputPipeline.usualPatience
    do { try await pipeline.complete(within: limit) } catch {
      return LiveKitError(.output, "it could not be completed: \(error.message)", underlying: error.underlying)
        .about(destination)
    }
    return nil
  }

  private static let hangs = LiveKitError(
    .output, "what writes it did not stop, as on a disk that does not answer: it may not play to its end")

  /// - Returns: what the segments hold; nil where there are none.
  private func finishSegments(_ reason: inout LiveKitError?) -> StoredMedia? {
    guard let segments else { return nil }
    do { try segments.finish() } catch { reason = reason ?? error.about(destination) }
    // Who goes on with its files tells of them.
    if segments.isContinued { return StoredMedia(end: 0, length: .zero) }
    return segments.length.map { StoredMedia(end: segments.bytes, length: $0) }
  }
}

extension LiveKitError {
  /// The same, with the destination that it is about and without its secrets.
  func about(_ destination: Destination) -> LiveKitError {
    let (shown, message) = (destination.shown, destination.redact(message))
    let text = message.hasPrefix("\(shown): ") ? message : "\(shown): \(message)"
    return LiveKitError(code, text, fault: fault, underlying: underlying)
  }
}
