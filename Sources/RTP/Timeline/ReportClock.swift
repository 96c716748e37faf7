/// What a track's sender reports say: its sender's wall clock minus its media time, in nanoseconds.
///
/// Some reports are wrong by as much as an encoder or a busy machine was late when they were made: libwebrtc extends the last
/// frame's timestamp by the time since then, which it at times counts from when that frame was sent. That makes a sample too
/// large, never too small. So the middle one of the last few counts, of an even number the lower of the two.
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
    static let samples = 5
    /// A report that is further from the ones before tells of a clock that was set, if the next one says so, too.
    static let steadiness: UInt64 = 200_000_000
    /// So many that agree were right.
    static let established = 3
    /// More than reports differ by in the making.
    static let noise: UInt64 = 20_000_000
  }

  private var samples: [Int64] = []
  /// The last report, if it contradicts those before.
  private var stranger: Int64?

  /// Nil before the first report.
  private(set) var offset: Int64?

  mutating func note(_ sample: Int64) -> Finding {
    guard let known = offset, (sample &- known).magnitude >= Limit.steadiness else { return add(sample) }
    guard let other = stranger, (sample &- other).magnitude < Limit.steadiness else {
      stranger = sample
      return .steady
    }
    let wasRight = samples.count >= Limit.established
    samples = [other]
    _ = add(sample)
    return wasRight ? .clockSet : .corrected
  }

  private mutating func add(_ sample: Int64) -> Finding {
    stranger = nil
    if samples.count == Limit.samples { samples.removeFirst() }
    samples.append(sample)
    let middle = samples.sorted()[(samples.count - 1) / 2]
    defer { offset = middle }
    return offset.map { (middle &- $0).magnitude > Limit.noise } == true ? .corrected : .steady
  }
}
