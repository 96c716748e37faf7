/// How often a command is begun anew that dies: one that does so each time is not, one that has run well is.
/// Pure.
package struct RestartLimit: Sendable {
  private static let most = 5
  /// Whatever ran for so long did not die of how it was begun.
  private static let steady = Duration.seconds(60)
  /// Deaths, without those before it ran well.
  package private(set) var deaths = 0

  package init() {}

  /// - Parameter ran: how long it did.
  /// - Returns: whether it is begun anew.
  package mutating func mayBegin(afterRunning ran: Duration) -> Bool {
    if ran >= Self.steady { deaths = 0 }
    deaths += 1
    return deaths <= Self.most
  }
}
