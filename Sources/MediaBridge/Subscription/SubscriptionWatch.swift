import MediaCore

/// Notices that a server does not begin to send what it was asked for. LiveKit's says nothing where it has reached its
/// limit of subscriptions, or a track has no receiver, and tries again for ever (`SubscriptionManager` in
/// `subscriptionmanager.go`). No clock and no I/O: times come in.
struct SubscriptionWatch: Sendable {
  /// How long a server may take on a connection that stands.
  static let patience = Duration.seconds(10)

  /// Since when tracks are waited for, by SID.
  private var since: [String: MediaTime] = [:]
  /// Those of which the program knows that they do not come.
  private var told: Set<String> = []

  /// - Parameter sids: what is to come and has not begun; all else is forgotten.
  mutating func follow(_ sids: Set<String>, at time: MediaTime) {
    since = since.filter { sids.contains($0.key) }
    told.formIntersection(sids)
    for sid in sids.subtracting(told) where since[sid] == nil { since[sid] = time }
  }

  /// The connection does not stand: the time until it is back does not count.
  mutating func pause() { since = [:] }

  /// Whoever waits for it was told why it does not come.
  mutating func settle(_ sid: String) {
    since[sid] = nil
    told.insert(sid)
  }

  var nextDeadline: MediaTime? { since.values.min().map { $0 + Self.patience } }

  /// - Returns: what has not begun for too long, each once.
  mutating func poll(at time: MediaTime) -> [String] {
    let overdue = since.filter { time - $0.value >= Self.patience }.keys.sorted()
    for sid in overdue { settle(sid) }
    return overdue
  }
}
