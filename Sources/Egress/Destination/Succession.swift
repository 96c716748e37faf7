/// Which of a destination's pipelines gets what, when one takes over from another: for a new part, a reload, a reconnect,
/// or because a track comes in another codec.
///
/// The next turn begins at a keyframe of its leading input, the video where there is one. What is older still goes to the
/// turn in whose time it is, such as audio that comes late; that one is over once all its inputs are past the change.
/// Several turns may wait for that, since parts may be shorter than audio is late.
///
/// Pure. A stage is a pipeline, or whatever media goes to; a line is where media comes from.
struct Succession<Stage: Sendable, Line: Hashable & Sendable>: Sendable {
  /// What feeds a stage.
  struct Turn: Sendable {
    var stage: Stage
    /// By the input's name.
    var lines: [String: Line]
    /// Whether it goes on in the pipeline of the turn before, fed by other lines.
    var continues = false
    /// The moment of the job before which it does not take over.
    var earliest = Duration.zero

    /// In the place of a moment that is yet to be said.
    static var unsaid: Duration { .seconds(Int64.max) }

    /// The input whose keyframe it begins with.
    fileprivate var leader: String? { lines.keys.contains("video") ? "video" : lines.keys.min() }
  }

  /// Where a buffer goes.
  struct Place: Sendable {
    var stage: Stage
    /// Since the stage's beginning.
    var time: Duration
  }

  /// A turn that another one has taken over from.
  private struct Past: Sendable {
    var turn: Turn
    /// Its moment zero.
    var origin: Duration
    /// When the turn after it began.
    var end: Duration
    /// The inputs that have not come there yet.
    var open: Set<String>
  }

  private var current: Turn
  /// The moment zero of the current stage, and the one from which on it gets what comes.
  private var (origin, start) = (Duration.zero, Duration.zero)
  /// Whether the first turn waits for a keyframe to begin with.
  private(set) var awaitsBeginning = false
  private(set) var next: Turn?
  /// From when on nothing goes anywhere, and the inputs that have not come there yet; nil while there is no end.
  private var end: (time: Duration, open: Set<String>)?
  /// In the order in which they began, which is the one in which they are over.
  private var past: [Past] = []
  /// How far the leading input has come.
  private(set) var reached = Duration.zero

  /// - Parameters:
  ///   - first: gets all that comes, from zero on.
  ///   - earliest: where it comes late: it begins at a keyframe of its leading input, at that time or after it.
  init(_ first: Turn, from earliest: Duration? = nil) {
    current = first
    if let earliest { (start, awaitsBeginning) = (earliest, true) }
  }

  /// What media goes to now.
  var stage: Stage { current.stage }
  /// When the current stage has begun, or may begin.
  var beginning: Duration { start }
  /// Whether all inputs have come to the end.
  var isPastEnd: Bool { end?.open.isEmpty == true }

  /// Whether a stage begins with a keyframe of that input.
  func leads(_ input: String) -> Bool { current.leader == input }

  /// Whether what is of that time may belong to the next turn, which the leading input has not come to yet: an encoder that
  /// does not keep up is behind the audio, and the next encoder may be behind the one that goes. What is behind the end goes
  /// nowhere.
  func isAhead(_ input: String, from line: Line, at time: Duration) -> Bool {
    guard let next, !next.continues, !isBehindEnd(time), let nextLine = next.lines[input] else { return false }
    if next.leader == input { return nextLine != line && next.earliest > .zero && time >= next.earliest }
    return time >= max(reached, next.earliest)
  }

  /// Has everything end at a moment: what is shown from then on goes nowhere.
  mutating func finish(at time: Duration) { end = (time, Set(current.lines.keys)) }

  /// Has a turn take over at the next keyframe of its leading input.
  /// - Returns: the turn that waited for that and will not come any more.
  mutating func prepare(_ turn: Turn) -> Turn? {
    defer { next = turn }
    return next
  }

  /// Says from which moment of the job on the turn that waits may take over.
  mutating func say(_ earliest: Duration) { next?.earliest = earliest }

  /// How many inputs are fed, or are to be.
  var inputs: Int { max(current.lines.count, next?.lines.count ?? 0) }

  /// Where a buffer goes; nil for what is of no turn any more, or not yet.
  /// - Parameters:
  ///   - time: since the job's beginning.
  ///   - over: gets the stages that nothing more goes to.
  mutating func place(
    _ input: String, from line: Line, isKeyframe: Bool, at time: Duration, over: inout [Stage]
  ) -> Place? {
    if isKeyframe, let next, next.leader == input, next.lines[input] == line, mayTakeOver(next, at: time) {
      change(to: next, at: time, &over)
    }
    if leads(input), current.lines[input] == line { reached = time }
    leavePast(input, from: line, at: time)
    endPast(&over)
    guard time >= start else { return placeInPast(input, from: line, at: time) }
    guard current.lines[input] == line, !isOver(input, at: time) else { return nil }
    if awaitsBeginning {
      guard isKeyframe, leads(input) else { return nil }
      (origin, start, awaitsBeginning) = (time, time, false)
    }
    return Place(stage: current.stage, time: time - origin)
  }

  /// Not where the encoder that goes was ahead, and what is of that time has been written: it would come twice. Nor
  /// behind the end, where nothing would come to it.
  private func mayTakeOver(_ next: Turn, at time: Duration) -> Bool {
    !isBehindEnd(time) && time >= next.earliest && (next.earliest == .zero || time > reached)
  }

  private func isBehindEnd(_ time: Duration) -> Bool { end.map { time >= $0.time } ?? false }

  private mutating func isOver(_ input: String, at time: Duration) -> Bool {
    guard isBehindEnd(time) else { return false }
    end?.open.remove(input)
    return true
  }

  private mutating func change(to turn: Turn, at time: Duration, _ over: inout [Stage]) {
    if !turn.continues {
      dropLate(at: time)
      var open = Set(current.lines.keys)
      // Of another line there may still come what is older: an encoder that looks ahead is behind the one that begins.
      if let leader = turn.leader, current.lines[leader] == turn.lines[leader] { open.remove(leader) }
      past.append(Past(turn: current, origin: origin, end: time, open: open))
      endPast(&over)
      (origin, start) = (time, time)
    }
    (current, next) = (turn, nil)
  }

  /// Where what is older than the current turn goes: into the newest one that had begun by then.
  private func placeInPast(_ input: String, from line: Line, at time: Duration) -> Place? {
    guard !isBehindEnd(time) else { return nil }
    let turn = past.last { $0.origin <= time && $0.turn.lines[input] == line && $0.open.contains(input) }
    return turn.map { Place(stage: $0.turn.stage, time: time - $0.origin) }
  }

  /// Waits for nothing more of an input in turns that had ended by that time.
  private mutating func leavePast(_ input: String, from line: Line, at time: Duration) {
    for index in past.indices where time >= past[index].end {
      guard past[index].turn.lines[input] == line || time >= past[index].end + Self.patience else { continue }
      past[index].open.remove(input)
    }
  }

  /// Waits for nothing more where an input may have gone for good.
  private mutating func dropLate(at time: Duration) {
    for index in past.indices where time >= past[index].end + Self.longestWait { past[index].open = [] }
  }

  /// - Parameter over: gets those that nothing more is waited for in, and for none before them.
  private mutating func endPast(_ over: inout [Stage]) {
    while past.first?.open.isEmpty == true { over.append(past.removeFirst().turn.stage) }
  }

  /// How long what is older is waited for where another line has taken over, by the time of that.
  private static var patience: Duration { .seconds(5) }
  /// The same where nothing comes that could say so: when turns change after that, it is over.
  private static var longestWait: Duration { .seconds(20) }

  /// The lines of which something is or will be taken.
  var lines: Set<Line> {
    var lines = Set(current.lines.values).union(next?.lines.values.map { $0 } ?? [])
    for earlier in past { lines.formUnion(earlier.open.compactMap { earlier.turn.lines[$0] }) }
    return lines
  }

  /// Has nothing take over any more.
  /// - Returns: the turn that was to.
  mutating func cancel() -> Turn? {
    defer { next = nil }
    return next
  }

  /// Every stage that media goes or went to and that is not over.
  var stages: [Stage] { past.map(\.turn.stage) + [current.stage] }
}
