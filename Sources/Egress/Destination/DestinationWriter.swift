import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines

/// Takes a destination's media from its lines, and brings each buffer into the pipeline that is to have it. It never waits:
/// what there is no room for is dropped up to the next keyframe, and counted.
final class DestinationWriter: Sendable {
  typealias Turn = Succession<OutputStage, ObjectIdentifier>.Turn

  /// What comes on a line.
  fileprivate struct Arrival {
    var media: MediaBuffer
    var input: String
    var line: FeedLine
    var time: FeedTime
  }

  fileprivate struct State {
    var succession: Succession<OutputStage, ObjectIdentifier>
    var gates: [String: InputGate] = [:]
    /// What has come beside the keyframe that the first stage waits for.
    var early: [Arrival] = []
    /// What has come ahead of the keyframe that the next stage waits for.
    var ahead: [Arrival] = []
    /// When that was asked for last.
    var asked: Duration?
    /// Of each audio, which stands in where a stage ends before any of it has come.
    var newestAudio: [String: MediaBuffer] = [:]
    /// Of the job.
    var beginning: Duration
  }

  private let onOver: @Sendable (OutputStage, _ next: OutputStage) -> Void
  private let onPastEnd: @Sendable () -> Void
  /// Held while a buffer is queued, so that it does not come behind what another line brings; queueing never waits.
  private let state: Locked<State>

  /// - Parameters:
  ///   - earliest: where the destination comes late: it begins at a keyframe at that time of the job or after it.
  ///   - onOver: called on a media thread with a stage that another one has taken over from, and that.
  ///   - onPastEnd: called on a media thread when nothing more is written.
  init(
    _ first: Turn, from earliest: Duration?, onOver: @escaping @Sendable (OutputStage, _ next: OutputStage) -> Void,
    onPastEnd: @escaping @Sendable () -> Void
  ) {
    (self.onOver, self.onPastEnd) = (onOver, onPastEnd)
    state = Locked(State(succession: Succession(first, from: earliest), beginning: earliest ?? .zero))
  }

  /// Has a turn take over at the next keyframe.
  /// - Returns: the turn that waited for that and will not come any more.
  func prepare(_ turn: Turn) -> Turn? { change { $0.prepare(turn) } }

  /// Says from which moment of the job on a stage may take over; nothing where it does not wait for that any more.
  func say(_ earliest: Duration, of stage: OutputStage) {
    state.withLock { state in
      if state.succession.next?.stage === stage { state.succession.say(earliest) }
    }
  }

  /// Has other lines feed what is written, or what waits to take over, from the next keyframe on.
  func feed(_ lines: [String: ObjectIdentifier]) {
    change { succession in
      let waiting = succession.next.flatMap { $0.continues ? nil : $0.stage }
      _ = succession.prepare(Turn(stage: waiting ?? succession.stage, lines: lines, continues: waiting == nil))
    }
  }

  /// Has nothing take over any more.
  /// - Returns: the turn that was to.
  func cancel() -> Turn? { change { $0.cancel() } }

  /// The lines of which something is or will be taken.
  var lines: Set<ObjectIdentifier> { state.withLock { $0.succession.lines } }

  /// Has all end at a moment of the job: what is shown from then on is not written. What is ahead of a stage that may still
  /// take over stays so.
  func finish(at time: Duration) { change(releasingAll: false) { $0.finish(at: time) } }

  /// Writes what still waits to know into which stage it goes: nothing comes any more.
  func flush() {
    change { _ in }
    state.withLock { $0.fill($0.succession.stages) }
  }

  private func change<Result>(
    releasingAll: Bool = true, _ body: (inout Succession<OutputStage, ObjectIdentifier>) -> Result
  ) -> Result {
    let (result, over, rest) = state.withLock { state -> (Result, [OutputStage], [OutputStage]) in
      var over: [OutputStage] = []
      let result = body(&state.succession)
      state.release(all: releasingAll, over: &over)
      state.fill(over)
      return (result, over, state.succession.stages)
    }
    tell(over, before: rest)
    return result
  }

  /// Each has ended ahead of the one behind it, which may wait for that.
  private func tell(_ over: [OutputStage], before rest: [OutputStage]) {
    for (stage, next) in zip(over, over.dropFirst() + rest) { onOver(stage, next) }
  }

  /// Waits for no beginning any more.
  /// - Returns: whether it still did.
  func stopWaiting() -> Bool {
    state.withLock { state in
      state.early = []
      return state.succession.awaitsBeginning
    }
  }

  /// Whether the first stage waits for a keyframe.
  var awaitsBeginning: Bool { state.withLock { $0.succession.awaitsBeginning } }
  /// The moment of the job at which it has begun, or may begin.
  var beginning: Duration { state.withLock { $0.beginning } }
  /// Whether nothing more is written.
  var isPastEnd: Bool { state.withLock { $0.succession.isPastEnd } }

  /// How far the input has come that a stage begins with, in the job: what is before that goes into no stage to come.
  var reached: Duration { state.withLock { $0.succession.reached } }

  /// What media goes to now, and the moment of the job at which that has begun.
  var part: (stage: OutputStage, begin: Duration) {
    state.withLock { ($0.succession.stage, $0.succession.beginning) }
  }
  /// What media goes to now.
  var stage: OutputStage { state.withLock { $0.succession.stage } }
  /// All that is still written.
  var stages: [OutputStage] { state.withLock { $0.succession.stages } }
  /// What will not come any more, since the media has ended.
  var waiting: OutputStage? {
    state.withLock { state in state.succession.next.flatMap { $0.continues ? nil : $0.stage } }
  }

  /// Whether what is written goes on in the same pipeline, fed by other lines, once their keyframe comes.
  var isChangingLines: Bool { state.withLock { $0.succession.next?.continues == true } }

  /// Buffers that did not get into a pipeline for want of room.
  func dropped(at input: String) -> Int {
    state.withLock { $0.gates[input]?.dropped ?? 0 }
  }

  /// What of an input there was no room for, and since when.
  func loss(at input: String) -> QueueLoss { state.withLock { $0.gates[input]?.loss ?? QueueLoss() } }

  /// Takes a buffer of a line; on a media thread.
  func take(_ media: MediaBuffer, into input: String, from line: FeedLine, at time: FeedTime) {
    let (needsKeyframe, isPastEnd, over, rest) = state.withLock { state -> (Bool, Bool, [OutputStage], [OutputStage]) in
      var over: [OutputStage] = []
      let isTaken = state.takeInTurn(Arrival(media: media, input: input, line: line, time: time), over: &over)
      // Nearly always none is over, and a list of the others would be made for each buffer.
      guard !over.isEmpty else { return (!isTaken, state.succession.isPastEnd, [], []) }
      state.fill(over)
      return (!isTaken, state.succession.isPastEnd, over, state.succession.stages)
    }
    tell(over, before: rest)
    if needsKeyframe { line.requestKeyframe() }
    if isPastEnd { onPastEnd() }
  }
}

extension DestinationWriter.State {
  /// How much waits beside a keyframe: some ten seconds of each audio.
  private var mostEarly: Int { 500 * succession.inputs }
  /// From one request for the keyframe to begin with to the next.
  private static let patience = Duration.seconds(1)

  /// The last part may be so short that no audio lies in it.
  fileprivate func fill(_ stages: [OutputStage]) { for stage in stages { stage.standIn(newestAudio) } }

  /// - Returns: false when a keyframe is needed.
  fileprivate mutating func takeInTurn(_ arrival: DestinationWriter.Arrival, over: inout [OutputStage]) -> Bool {
    if arrival.line.kind == .audio { newestAudio[arrival.input] = arrival.media }
    guard !succession.isAhead(arrival.input, from: arrival.line.id, at: arrival.time.shown) else {
      if ahead.count >= mostEarly { release(all: true, over: &over) }
      ahead.append(arrival)
      return true
    }
    let isTaken = take(arrival, over: &over)
    if succession.leads(arrival.input) { release(over: &over) }
    return isTaken
  }

  /// - Parameter all: also what is still ahead.
  fileprivate mutating func release(all: Bool = false, over: inout [OutputStage]) {
    guard !ahead.isEmpty else { return }
    let held = ahead
    ahead = []
    for arrival in held {
      if !all, succession.isAhead(arrival.input, from: arrival.line.id, at: arrival.time.shown) {
        ahead.append(arrival)
      } else {
        _ = take(arrival, over: &over)
      }
    }
  }

  /// - Returns: false when a keyframe is needed.
  private mutating func take(_ arrival: DestinationWriter.Arrival, over: inout [OutputStage]) -> Bool {
    let isWaiting = succession.awaitsBeginning
    let place = succession.place(
      arrival.input, from: arrival.line.id, isKeyframe: !arrival.media.isDelta, at: arrival.time.shown, over: &over)
    guard let place else { return isWaiting ? wait(arrival) : true }
    let isTaken = queue(arrival, at: place)
    if isWaiting {
      beginning = arrival.time.shown
      let held = early
      early = []
      for arrival in held { _ = take(arrival, over: &over) }
    }
    return isTaken
  }

  /// Before the keyframe of the first stage, which what belongs to it may come ahead of.
  private mutating func wait(_ arrival: DestinationWriter.Arrival) -> Bool {
    guard succession.leads(arrival.input) else {
      if early.count >= mostEarly { early.removeFirst() }
      early.append(arrival)
      return true
    }
    let time = arrival.time.shown
    guard time >= succession.beginning, asked.map({ time - $0 >= Self.patience }) ?? true else { return true }
    asked = time
    return false
  }

  private mutating func queue(
    _ arrival: DestinationWriter.Arrival, at place: Succession<OutputStage, ObjectIdentifier>.Place
  ) -> Bool {
    guard !place.stage.isAbandoned else { return true }
    let (media, input, time) = (arrival.media, arrival.input, arrival.time)
    let verdict = gates[input, default: InputGate()].offer(arrival, to: place.stage)
    guard verdict == .pass else { return verdict != .dropAndAsk }
    let beginning = time.shown - place.time
    let decoded = time.decoded.map { max($0 - beginning, .zero) }
    place.stage.push(media, into: input, at: FeedTime(shown: place.time, decoded: decoded), from: beginning)
    return true
  }
}

/// Decides what of an input gets into a pipeline, and notes what does not.
private struct InputGate: Sendable {
  private var gate = FrameGate()
  private(set) var loss = QueueLoss()

  /// Encoded ones.
  var dropped: Int { gate.dropped }

  mutating func offer(_ arrival: DestinationWriter.Arrival, to stage: OutputStage) -> FrameGate.Verdict {
    guard arrival.line.form != .raw else {
      // Of raw media the pipeline drops the oldest by itself; frames also where it encodes them, and is too slow.
      if arrival.line.kind == .audio { note(pcm: arrival, fullness: stage.fullness(of: arrival.input)) }
      return .pass
    }
    let before = gate.dropped
    let verdict = gate.offer(isKeyframe: !arrival.media.isDelta, fullness: stage.fullness(of: arrival.input))
    if verdict == .pass {
      loss.pass(at: arrival.time.shown)
    } else if gate.dropped > before {
      loss.drop(arrival)
    }
    return verdict
  }

  private mutating func note(pcm arrival: DestinationWriter.Arrival, fullness: Double) {
    if fullness >= 1 {
      loss.drop(arrival)
    } else if fullness <= FrameGate.reopening {
      loss.pass(at: arrival.time.shown)
    }
  }
}

extension QueueLoss {
  fileprivate mutating func drop(_ arrival: DestinationWriter.Arrival) {
    drop(lasting: arrival.media.duration, at: arrival.time.shown, isStandIn: arrival.time.isStandIn)
  }
}
