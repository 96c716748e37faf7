import MediaCore

/// How many bits a second have passed of late.
struct ByteRate: Sendable {
  private let window: Duration
  private var entries: [(time: MediaTime, bytes: Int)] = []
  private var first = 0
  private var sum = 0
  private var begin: MediaTime?

  /// - Parameter window: over which it is measured.
  init(window: Duration) { self.window = window }

  mutating func add(_ bytes: Int, at time: MediaTime) {
    // A clock that was set back begins anew.
    if let last = entries.last, last.time - time > window { self = ByteRate(window: window) }
    if begin == nil { begin = time }
    // What comes together is one entry.
    if let last = entries.indices.last, last >= first, time - entries[last].time < .milliseconds(5) {
      entries[last].bytes += bytes
    } else {
      entries.append((time, bytes))
    }
    sum += bytes
    forget(before: time - window)
  }

  /// Bits a second up to `time`; nil while too little is known.
  mutating func rate(at time: MediaTime) -> Double? {
    forget(before: time - window)
    guard let begin, time - begin >= window / 2 else { return nil }
    return Double(sum * 8) / min(time - begin, window).seconds
  }

  private mutating func forget(before limit: MediaTime) {
    while first < entries.count, entries[first].time < limit {
      sum -= entries[first].bytes
      first += 1
    }
    guard first > 64, first * 2 > entries.count else { return }
    entries.removeFirst(first)
    first = 0
  }
}
