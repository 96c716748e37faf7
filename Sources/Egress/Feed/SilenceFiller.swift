import MediaCore

/// Keeps a track of audio without holes: what is missing becomes exact silence, what comes twice is dropped.
///
/// Pure: it says what to write for what arrives.
struct SilenceFiller: Sendable {
  /// One packet or block of silence.
  static let step = Duration.milliseconds(20)
  /// A stereo Opus packet of 20 ms that decodes to silence: configuration 31 (CELT, full band), one frame that
  /// is cut off after its silence flag (RFC 6716, 3.1 and 4.3).
  static let opusSilence: [UInt8] = [0xfc, 0xff, 0xfe]
  /// A hole that is shorter may stay, where more than enough was handed out before it.
  private static let tolerance = Duration.milliseconds(60)

  /// Between the starts of two blocks at least: files count milliseconds, which a muxer rounds down for one block and up for
  /// another, and no two may have one time.
  private static let least = Duration.milliseconds(2)

  /// Where the audio written so far ends.
  private(set) var end = Duration.zero
  /// How far all that was handed out goes, one behind the other: a file without times has no others.
  private(set) var total = Duration.zero
  /// Where the newest block begins.
  private var newest: Duration?
  /// Whether the newest block stands in for one that may still come.
  private var isFilled = false

  /// Has it begin later than at zero.
  mutating func begin(at start: Duration) { (end, total) = (start, start) }

  /// Where silence has to be written before a block at `start`, or nil when the block lies before what is written.
  ///
  /// What is missing by less than a step is jitter, and stays as it is; what adds up is made up for in the next hole.
  mutating func gap(before start: Duration) -> [Duration]? {
    guard start >= end - (isFilled ? Self.step / 2 : Self.step) else { return nil }
    let hole = start - end
    guard hole >= Self.step / 2 else { return [] }
    let missing = max(start - total, hole - Self.tolerance)
    guard missing > Self.step - Self.least else { return [] }
    // A small hole is not to take all that is missing since long ago.
    return fill(hole, steps: Int((min(missing, hole * 2) / Self.step).rounded()))
  }

  /// - Parameter steps: may be more than fit in, which are closer together then.
  private mutating func fill(_ hole: Duration, steps: Int) -> [Duration] {
    let (begin, pace) = (end, min(Self.step, hole / steps))
    let starts = (0..<steps).map { begin + pace * $0 }
    for start in starts { fill(at: start) }
    return starts
  }

  /// Silence from the end of what is written to `limit`, as the starts of its steps.
  mutating func fill(upTo limit: Duration) -> [Duration] {
    var starts: [Duration] = []
    while end + Self.step <= limit {
      starts.append(end)
      fill(at: end)
    }
    return starts
  }

  private mutating func fill(at start: Duration) {
    (newest, isFilled) = (start, true)
    end = start + Self.step
    total += Self.step
  }

  /// Notes a block as written; where it begins, always behind the start of the block in front of it.
  mutating func wrote(_ start: Duration, _ duration: Duration) -> Duration {
    let begin = max(start, newest.map { $0 + Self.least } ?? start)
    (newest, isFilled) = (begin, false)
    end = max(end, begin + max(duration, Self.least))
    total += duration
    return begin
  }
}
