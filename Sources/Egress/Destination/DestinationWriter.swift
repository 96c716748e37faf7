import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines

/// Takes a destination's media from its lines, and brings each buffer into the pipeline that is to have it. It never waits:
/// what there is no room for is dropped up to the next keyframe, and counted.
final class DestinationWriter: Sendable {
  typealias Turn = Succession<OutputStage, ObjectIdentifier>.Turn

  fileprivate struct State {
    var succession: Succession<OutputStage, ObjectIdentifier>
    var gates: [String: FrameGate] = [:]
  }

  private let onOver: @Sendable (OutputStage) -> Void
  /// Held while a buffer is queued, so that it does not come behind what another line brings; queueing never waits.
  private let state: Locked<State>

  /// - Parameter onOver: called on a media thread with a stage that another one has taken over from.
  init(_ first: Turn, onOver: @escaping @Sendable (OutputStage) -> Void) {
    self.onOver = onOver
    state = Locked(State(succession: Succession(first)))
  }

  /// Has a turn take over at the next keyframe.
  /// - Returns: the turn that waited for that and will not come any more.
  func prepare(_ turn: Turn) -> Turn? { state.withLock { $0.succession.prepare(turn) } }

  /// What media goes to now.
  var stage: OutputStage { state.withLock { $0.succession.stage } }
  /// All that is still written.
  var stages: [OutputStage] { state.withLock { $0.succession.stages } }
  /// What will not come any more, since the media has ended.
  var waiting: OutputStage? {
    state.withLock { state in state.succession.next.flatMap { $0.continues ? nil : $0.stage } }
  }

  /// Buffers that did not get into a pipeline for want of room.
  func dropped(at input: String) -> Int {
    state.withLock { $0.gates[input]?.dropped ?? 0 }
  }

  /// Takes a buffer of a line; on a media thread.
  func take(_ media: MediaBuffer, into input: String, from line: FeedLine, at time: FeedTime) {
    let (needsKeyframe, over) = state.withLock { state -> (Bool, [OutputStage]) in
      var over: [OutputStage] = []
      let place = state.succession.place(
        input, from: line.id, isKeyframe: !media.isDelta, at: time.shown, over: &over)
      guard let place else { return (false, over) }
      return (!state.queue(media, into: input, of: place, time, isRaw: line.form == .raw), over)
    }
    for stage in over { onOver(stage) }
    if needsKeyframe { line.requestKeyframe() }
  }
}

extension DestinationWriter.State {
  /// - Returns: false when a keyframe is needed.
  fileprivate mutating func queue(
    _ media: MediaBuffer, into input: String, of place: Succession<OutputStage, ObjectIdentifier>.Place,
    _ time: FeedTime, isRaw: Bool
  ) -> Bool {
    guard !place.stage.isAbandoned else { return true }
    if !isRaw {
      // Of raw media the pipeline drops the oldest by itself.
      let fullness = place.stage.fullness(of: input)
      let verdict = gates[input, default: FrameGate()].offer(isKeyframe: !media.isDelta, fullness: fullness)
      guard verdict == .pass else { return verdict != .dropAndAsk }
    }
    let decoded = time.decoded.map { max($0 - (time.shown - place.time), .zero) }
    place.stage.push(media, into: input, at: FeedTime(shown: place.time, decoded: decoded))
    return true
  }
}
