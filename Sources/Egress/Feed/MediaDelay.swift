/// How long media takes from its moment to us. On a busy machine that is seconds, and what comes late is there all the same.
///
/// Pure.
struct MediaDelay: Sendable {
  /// Whoever is later than that is not waited for.
  static let most = Duration.seconds(5)

  /// What it takes at least where it is mixed.
  var expected = Duration.zero
  private var newest = Duration.zero
  private var before = Duration.zero

  /// - Parameter delay: of what comes.
  mutating func note(_ delay: Duration) { (newest, before) = (min(max(delay, .zero), Self.most + expected), newest) }

  /// Of the newest two the shorter one: a single one may be late by a correction of a clock.
  var usual: Duration { max(expected, min(newest, before)) }
}
