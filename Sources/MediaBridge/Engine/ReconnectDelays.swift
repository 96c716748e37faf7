/// The waits before the attempts to bring a connection back: none, then growing with the square of the attempts.
struct ReconnectDelays: Sendable {
  private let attempts: Int
  private let step: Double
  private let limit: Double
  private let chance: @Sendable () -> Double
  private let first: Int
  private var done = 0

  /// - Parameters:
  ///   - first: how many of the shorter waits are left out; the number of attempts stays.
  ///   - chance: a number between 0 and 1, another one each time.
  init(
    _ options: ConnectOptions, from first: Int = 0, chance: @escaping @Sendable () -> Double = { .random(in: 0...1) }
  ) {
    self.first = first
    attempts = options.reconnectAttempts
    step = Self.sensible(options.reconnectAttemptDelay)
    limit = Self.sensible(options.reconnectMaxDelay)
    self.chance = chance
  }

  /// At most an hour; what is no number is none.
  private static func sensible(_ seconds: Double) -> Double { seconds.isNaN ? 0 : min(max(0, seconds), 3600) }

  /// The wait before the next attempt; nil after the last one.
  mutating func next() -> Duration? {
    guard done < attempts else { return nil }
    defer { done += 1 }
    let number = done + first
    let wait = min(step * Double(number) * Double(number), limit)
    // The first ones are quick, for a socket that was cut; those who all lost one server come one by one.
    let seconds = number < 2 ? wait : wait + min(1, wait) * chance()
    return .milliseconds(Int((seconds * 1000).rounded()))
  }
}
