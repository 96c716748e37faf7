import MediaCore

/// Where nothing came of a kind of media for a while: it was muted, or lost.
///
/// Pure: times are those of the job.
struct GapLog: Sendable {
  struct Gap: Sendable, Equatable {
    var from: Duration
    var to: Duration
  }

  /// A shorter one is none: audio that says nothing is not sent all the time, nor a screen on which nothing moves.
  static let least = Duration.seconds(1)
  /// More than a day, however many there are: 3 MB.
  private static let limit = 100_000

  /// Those that are over.
  private(set) var gaps: [Gap] = []
  /// Where what came last ends.
  private(set) var end: Duration

  /// - Parameter begin: from when on something is to come.
  init(from begin: Duration = .zero) { end = begin }

  /// - Parameters:
  ///   - start: of what comes.
  ///   - duration: how long it lasts at least.
  mutating func came(at start: Duration, for duration: Duration = .zero) {
    note(until: start)
    end = max(end, start + duration)
  }

  /// Nothing is to come from `time` on.
  mutating func stop(at time: Duration) {
    note(until: time)
    end = max(end, time)
  }

  /// Something is to come again from `time` on.
  mutating func goOn(from time: Duration) { end = max(end, time) }

  /// - Parameter length: of the job.
  func gaps(until length: Duration) -> [Gap] {
    var whole = self
    whole.note(until: length)
    return whole.gaps
  }

  private mutating func note(until time: Duration) {
    guard time - end >= Self.least, gaps.count < Self.limit else { return }
    gaps.append(Gap(from: end, to: time))
  }
}
