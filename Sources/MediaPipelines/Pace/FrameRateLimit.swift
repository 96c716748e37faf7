package import MediaCore

/// Leaves out what is above a frame rate, as evenly as it comes. Pure.
package struct FrameRateLimit: Sendable {
  private let interval: Duration
  /// When the next frame is due.
  private var next: MediaTime?

  /// - Parameter rate: frames a second.
  package init(rate: Int) { interval = .nanoseconds(1_000_000_000 / max(rate, 1)) }

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
