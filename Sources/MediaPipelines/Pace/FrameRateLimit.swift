package import MediaCore

/// Leaves out what is above a frame rate, as evenly as it comes. Pure.
package struct FrameRateLimit: Sendable {
  private let interval: Duration
  /// When the next frame is due.
  private var next: MediaTime?

  /// - Parameter rate: frames a second.
  package init(rate: Int) { interval = .nanoseconds(1_000_000_000 / max(rate, 1)) }

  /// - Parameter fraction: frames in so many seconds, such as `30000/1001`; nil for what is none.
  package init?(fraction: String) {
    let parts = fraction.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
    guard (1...2).contains(parts.count), let frames = parts[0], frames > 0,
      let seconds = parts.count > 1 ? parts[1] : 1,
      seconds > 0, seconds < 1_000_000
    else { return nil }
    interval = .nanoseconds(1_000_000_000 * seconds / frames)
  }

  /// - Parameter time: of the frame.
  package mutating func takes(_ time: MediaTime) -> Bool {
    guard let due = next else {
      next = time + interval
      return true
    }
    // A frame that comes a little early is jitter of its sender, and one that goes back a source that began again.
    let early = due - time
    guard early <= interval / 4 || early > interval * 2 else { return false }
    next = early > .zero - interval && early < interval ? due + interval : time + interval
    return true
  }
}
