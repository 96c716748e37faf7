import MediaCore

/// Changes of what is mixed, each of which is seen from one mixed frame on. Pure.
struct FrameChanges<Change: Sendable>: Sendable {
  private var changes = MomentList<Change>()
  /// Of the frame that was mixed last.
  private var newest: (time: MediaTime, duration: Duration)?

  /// Times of frames are rounded. By this a moment of ours is behind its frame's beginning, and never before it.
  private static var slack: Duration { .microseconds(10) }

  /// When the first frame begins that is mixed at or after a moment. What is to be shown then, or later, is in that frame or
  /// one behind it.
  func frame(at time: MediaTime) -> MediaTime {
    guard let newest, newest.duration > .zero else { return time }
    let ahead = (time - newest.time - Self.slack) / newest.duration
    return newest.time + newest.duration * max(1, Int(ahead.rounded(.up))) + Self.slack
  }

  /// - Parameter time: by `frame(at:)`.
  /// - Returns: false where nothing was mixed yet: then nobody sees it made at once.
  mutating func add(_ change: Change, from time: MediaTime) -> Bool {
    guard newest != nil else { return false }
    changes.add(change, from: time)
    return true
  }

  /// - Parameters:
  ///   - time: of a frame that was mixed.
  ///   - skipped: up to how long after it those are left out that follow.
  /// - Returns: what is to be changed before the next one is.
  mutating func mixed(_ time: MediaTime, for duration: Duration, skipping skipped: Duration) -> [Change] {
    newest = (time, duration)
    // Half a frame is far from all others, however they are rounded.
    return changes.due(at: time + max(duration, skipped + duration / 2) + duration / 2)
  }
}
