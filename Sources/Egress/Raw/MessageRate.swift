import MediaCore

/// How many messages may come. Pure.
struct MessageRate: Sendable {
  private let rate: Double
  private let burst: Double
  private var left: Double
  private var newest: MediaTime?

  /// - Parameters:
  ///   - rate: messages a second.
  ///   - burst: how many may come at once.
  init(_ rate: Double, burst: Double) { (self.rate, self.burst, left) = (rate, burst, burst) }

  /// - Returns: whether one more may come at that time.
  mutating func allows(at time: MediaTime) -> Bool {
    left = min(left + rate * (time - (newest ?? time)).seconds, burst)
    newest = time
    guard left >= 1 else { return false }
    left -= 1
    return true
  }
}
