/// How often to ask whether the server is there, and how long it may stay silent, as its join says.
public struct PingSchedule: Sendable, Equatable {
  /// Between two pings, 1…300 s.
  public let interval: Duration
  /// The longest wait for a pong, 1…300 s.
  public let timeout: Duration

  /// Servers ask for 5 to 10 s and 15 to 20 s. Beyond these bounds a number would flood the server or never see it die.
  static let bounds = 1...300 as ClosedRange<Int32>
  static let usualTimeout = Int32(15)

  /// Nil when the server asks for no pings.
  init?(_ join: Livekit_JoinResponse) {
    guard join.pingInterval > 0 else { return nil }
    interval = Self.bounded(join.pingInterval)
    timeout = Self.bounded(join.pingTimeout > 0 ? join.pingTimeout : Self.usualTimeout)
  }

  private static func bounded(_ seconds: Int32) -> Duration {
    .seconds(min(max(seconds, bounds.lowerBound), bounds.upperBound))
  }
}
