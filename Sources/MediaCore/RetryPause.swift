/// How long something that has failed is left alone before it is tried again: twice as long each time that it fails again
/// soon. Pure.
public struct RetryPause: Sendable {
  private static let first = Duration.seconds(2)
  private static let longest = Duration.seconds(60)

  private var count = 0
  private var end: MediaTime?

  /// As for something that has never failed.
  public init() {}

  /// Whether it may be tried at that time.
  public func isOver(at now: MediaTime) -> Bool { end.map { $0 <= now } ?? true }

  /// Notes a failure.
  /// - Returns: how long to wait.
  @discardableResult
  public mutating func next(at now: MediaTime) -> Duration {
    // What has run well since is as good as new.
    if let end, now - end > Self.longest { count = 0 }
    let pause = min(Self.first * (1 << min(count, 5)), Self.longest)
    (count, end) = (count + 1, now + pause)
    return pause
  }
}
