/// What a track's sender reports say: its sender's wall clock minus its media time, in nanoseconds.
///
/// Some reports are wrong by as much as an encoder or a busy machine was late when they were made: libwebrtc extends the last
/// frame's timestamp by the time since then, which it at times counts from when that frame was sent, and for audio that is
/// sent redundantly (RED) in ticks of 8 kHz, so that up to 17 ms are missing. That makes a sample too large, never too
/// small. So the smallest one of the last few counts. A server that forwards media repeats what a sender said last, which
/// counts once.
///
/// Pure.
struct ReportClock: Sendable {
  enum Finding {
    /// As the ones before say.
    case steady
    /// Those before were wrong: what was learnt by them is void.
    case corrected
    /// The sender's wall clock was set, for all of its tracks.
    case clockSet
  }

  private enum Limit {
    static let samples = 10
    /// A report that is further from the ones before tells of a clock that was set, if the next one says so, too.
    static let steadiness: UInt64 = 200_000_000
    /// So many that agree were right.
    static let established = 3
    /// Less than two reports of a sender differ by.
    static let repetition: UInt64 = 100_000
    /// More often than a server repeats a report before the sender makes the next one.
    static let repetitions = 10
    /// More than reports differ by in the making.
    static let noise: UInt64 = 20_000_000
  }

  /// The last ones that differ.
  private var samples: [Int64] = []
  /// How many agreed so far.
  private var count = 0
  /// The last report, if it contradicts those before.
  private var stranger: Int64?

  private var stale: Stale?

  /// Nil before the first report.
  private(set) var offset: Int64?

  /// Begins anew: the sender's clock was set, as another of its tracks has told. A server goes on to repeat what this
  /// one said before, which would put it and the others by as much apart as the clock was set.
  mutating func forget() { beginAnew(samples.last.map { Stale(sample: $0) } ?? stale) }

  /// Begins anew: the sender's timestamps stood still for a while, and its wall clock went on. LiveKit's server goes on
  /// to repeat what was said until the pause was over, for it takes no report whose timestamp is before that of the
  /// last one.
  mutating func forget(pause: Int64) {
    // Since the pause before nothing may have been said but what was stale then.
    beginAnew(samples.last.map { Stale(sample: $0, pause: pause) } ?? stale?.lasting(for: pause))
  }

  private mutating func beginAnew(_ stale: Stale?) {
    self = ReportClock()
    self.stale = stale
  }

  mutating func note(_ sample: Int64) -> Finding {
    guard !isStale(sample) else { return .steady }
    guard let known = offset, (sample &- known).magnitude >= Limit.steadiness else { return add(sample) }
    guard let other = stranger, (sample &- other).magnitude < Limit.steadiness else {
      stranger = sample
      return .steady
    }
    let wasRight = count >= Limit.established
    (samples, count) = ([other], 1)
    _ = add(sample)
    return wasRight ? .clockSet : .corrected
  }

  private mutating func isStale(_ sample: Int64) -> Bool {
    guard let known = stale, known.repetitions > 0, known.contains(sample) else {
      stale = nil
      return false
    }
    stale?.repetitions -= 1
    return true
  }

  private mutating func add(_ sample: Int64) -> Finding {
    stranger = nil
    count += 1
    if samples.last.map({ (sample &- $0).magnitude >= Limit.repetition }) ?? true {
      if samples.count == Limit.samples { samples.removeFirst() }
      samples.append(sample)
    }
    let best = samples.min() ?? sample
    defer { offset = best }
    return offset.map { (best &- $0).magnitude > Limit.noise } == true ? .corrected : .steady
  }

  /// What has been said last and is no more true, and how often it may still be repeated.
  private struct Stale: Sendable {
    private let sample: Int64
    /// How much less, and more, is the same.
    private var tolerance: (less: Int64, more: Int64)
    var repetitions = Limit.repetitions

    /// As a server repeats it.
    init(sample: Int64) {
      self.sample = sample
      tolerance = (Int64(Limit.repetition), Int64(Limit.repetition))
    }

    /// As its sender goes on to say it in the pause, too. What is true behind that is more by as much as it was long.
    init(sample: Int64, pause: Int64) {
      self.sample = sample
      let steadiness = Int64(Limit.steadiness)
      tolerance = (steadiness, pause &- steadiness)
    }

    /// Behind another pause, too.
    func lasting(for pause: Int64) -> Stale {
      var longer = self
      longer.tolerance.more &+= pause
      longer.repetitions = Limit.repetitions
      return longer
    }

    func contains(_ other: Int64) -> Bool {
      let difference = other &- sample
      return difference > -tolerance.less && difference < tolerance.more
    }
  }
}
