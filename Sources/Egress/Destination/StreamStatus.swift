public import MediaBridge

/// How the connection of an output with its live server goes.
public struct StreamStatus: Sendable, Equatable {
  /// Whether it is lost, and tried again.
  public var isReconnecting = false
  /// How often it was lost.
  public var losses = 0
  /// For how long in all; what came meanwhile was not sent.
  public var away: Duration = .zero
  /// Why it was lost, the last time.
  public var reason: LiveKitError?

  /// - Parameter losses: how often it was lost.
  public init(isReconnecting: Bool = false, losses: Int = 0, away: Duration = .zero, reason: LiveKitError? = nil) {
    (self.isReconnecting, self.losses) = (isReconnecting, losses)
    (self.away, self.reason) = (away, reason)
  }
}
