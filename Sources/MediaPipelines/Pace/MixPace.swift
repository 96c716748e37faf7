package import MediaCore

/// How far behind a mixer of frames is, and which it leaves out for that. Pure.
package struct MixPace: Sendable {
  private let delay: Duration
  private var thinning = FrameThinning()
  private var newest: MediaTime?
  /// The shortest time from one frame to the next: none come quicker than they are to.
  private var interval: Duration?
  private var asked = 0
  /// Frames that were not mixed.
  package private(set) var leftOut = 0

  /// - Parameter delay: how long after it was a moment is mixed where there is time.
  package init(delay: Duration) { self.delay = delay }

  /// - Parameter time: of a frame that has been mixed.
  /// - Returns: up to how long after it those are to be left out that follow; nil where none is.
  package mutating func mixed(_ time: MediaTime, at now: MediaTime) -> Duration? {
    let step = newest.map { time - $0 }
    newest = time
    guard let step, step > .zero else { return nil }
    let interval = min(interval ?? step, step)
    self.interval = interval
    leftOut += min(asked, max(0, Int((step / interval).rounded()) - 1))
    asked = thinning.skip(behind: now - time - delay)
    return asked > 0 ? interval * (Double(asked) + 0.5) : nil
  }
}
