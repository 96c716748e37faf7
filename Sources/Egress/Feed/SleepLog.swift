import MediaCore

/// How long the machine had slept by a moment: our clock stands still meanwhile, the one on the wall does not. Pure.
struct SleepLog: Sendable {
  /// Below that nobody knows whether it slept.
  static let least = Duration.seconds(1)

  /// Before the job.
  private let before: Duration
  /// When it was awake again, and how long it had slept by then.
  private var wakes: [(time: MediaTime, sleep: Duration)] = []

  /// - Parameter sleep: how long it has slept until now.
  init(_ sleep: Duration = MediaTime.sleep) { before = sleep }

  /// - Parameter sleep: how long it has slept until now.
  /// - Returns: how much of that is new; nil where nothing is.
  mutating func note(_ sleep: Duration, at now: MediaTime) -> Duration? {
    let known = wakes.last?.sleep ?? before
    guard sleep - known >= Self.least else { return nil }
    wakes.append((time: now, sleep: sleep))
    return sleep - known
  }

  /// How long the machine was up at a moment, with the time that it slept.
  func uptime(at time: MediaTime) -> Duration {
    let wake = wakes.last { $0.time <= time }
    return .nanoseconds(time.nanoseconds) + (wake?.sleep ?? before)
  }
}
