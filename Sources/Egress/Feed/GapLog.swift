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
  private static let limit = 10_000

  private var all: [Gap] = []
  /// Where what came last ends.
  private var end = Duration.zero

  /// - Parameters:
  ///   - start: of what comes.
  ///   - duration: how long it lasts at least.
  mutating func came(at start: Duration, for duration: Duration = .zero) {
    note(until: start)
    end = max(end, start + duration)
  }

  /// - Parameter length: of the job.
  func gaps(until length: Duration) -> [Gap] {
    var whole = self
    whole.note(until: length)
    return whole.all
  }

  private mutating func note(until time: Duration) {
    guard time - end >= Self.least, all.count < Self.limit else { return }
    all.append(Gap(from: end, to: time))
  }
}
