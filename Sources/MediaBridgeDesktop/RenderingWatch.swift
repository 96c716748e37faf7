import MediaCore

/// Whether frames come, and whether one has. Pure.
struct RenderingWatch {
  /// As LiveKit's SDK has it.
  static let patience = Duration.seconds(2)

  private(set) var isRendering = false
  private(set) var hasRendered = false
  private var newest: MediaTime?
  private var isWatched = false

  /// Notes a frame that is shown.
  /// - Returns: whether somebody has to `check` after `patience`, which nobody is about to.
  mutating func note(at time: MediaTime) -> Bool {
    newest = time
    (isRendering, hasRendered) = (true, true)
    defer { isWatched = true }
    return !isWatched
  }

  /// - Returns: after what time to check again; nil when nothing comes any more.
  mutating func check(at time: MediaTime) -> Duration? {
    guard isRendering, let newest, time - newest < Self.patience else {
      (isRendering, isWatched) = (false, false)
      return nil
    }
    return Self.patience - (time - newest)
  }

  /// What comes from now on is something else.
  mutating func begin() { (isRendering, hasRendered) = (false, false) }
}
