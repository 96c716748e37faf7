import MediaCore

/// How long media takes from its moment to us, and whether more of it is on its way. On a busy machine what comes is seconds
/// late or stays out for a while, and it is there all the same.
///
/// Pure.
struct MediaDelay: Sendable {
  /// Whoever is later than that is not waited for.
  static let most = Duration.seconds(5)
  /// For how long nothing may come at least before it has ended.
  private static let shortestRest = Duration.milliseconds(300)
  /// Nobody waits for longer than that: of what is sent more rarely nobody knows whether there is more.
  private static let longestRest = Duration.milliseconds(1500)
  /// How long an interval is remembered, at least.
  private static let window = Duration.seconds(4)

  /// What it takes at least where it is mixed.
  var expected = Duration.zero
  private var newest = Duration.zero
  private var before = Duration.zero
  /// When the newest came.
  private var arrival: MediaTime?
  /// The longest time without any, in this window and the one before.
  private var intervals = (current: Duration.zero, before: Duration.zero)
  private var windowEnd: MediaTime?

  /// - Parameters:
  ///   - delay: of what comes.
  ///   - now: when it comes.
  mutating func note(_ delay: Duration, at now: MediaTime) {
    (newest, before) = (min(max(delay, .zero), Self.most + expected), newest)
    if now >= windowEnd ?? now { (intervals, windowEnd) = ((.zero, intervals.current), now + Self.window) }
    if let arrival { intervals.current = max(intervals.current, now - arrival) }
    arrival = now
  }

  /// Of the newest two the shorter one: a single one may be late by a correction of a clock.
  var usual: Duration { max(expected, min(newest, before)) }

  /// Until when what is before `end` may come: as long after it as media takes, and where that does not come steadily, as
  /// long as it stays out of late and the same again.
  func limit(for end: MediaTime) -> MediaTime {
    let rest = max(intervals.current, intervals.before) * 2
    let last = arrival.map { $0 + min(max(rest, Self.shortestRest), Self.longestRest) } ?? end
    return min(max(end + usual, last), end + Self.most + expected)
  }
}
