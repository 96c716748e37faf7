/// Lets through a frame every so often, the first one at once. Pure.
struct FrameInterval {
  private let interval: Duration
  private var next = Duration.zero

  init(_ interval: Duration) { self.interval = interval }

  /// - Parameter time: since the output's beginning.
  mutating func passes(at time: Duration) -> Bool {
    guard time >= next else { return false }
    next = interval * Int((time / interval).rounded(.down)) + interval
    return true
  }
}
