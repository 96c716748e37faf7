import MediaCore

/// Whether the media of a subscribed track comes while it should. No clock of its own: times come in.
struct MediaTimeout: Sendable {
  enum Change: Sendable {
    /// Nothing comes any more.
    case lost
    /// It comes again.
    case restored
    /// Nothing has ever come, although it should have.
    case missing
    /// It comes, although it is paused.
    case unexpected
  }

  /// How long media may be away before it counts as lost: longer than Opus is silent for silence (0.4 s) and than a
  /// shared screen on which nothing moves (1 s).
  static let patience = Duration.seconds(2)
  /// How long the first packet may take.
  static let firstPatience = Duration.seconds(10)

  /// How long what was sent before a pause may take.
  private static let onTheWay = Duration.seconds(1)

  private var hasCome = false
  private var isLost = false
  private var isMissing = false
  /// Since when nothing came that should have; nil while nothing is expected.
  private var since: MediaTime?
  /// Since when nothing is; nil once something has come all the same.
  private var pausedSince: MediaTime?

  init(at time: MediaTime) { since = time }

  /// A packet has come.
  /// - Parameter beginsAnew: whether whoever is paused could begin with it: a server also repeats what was before the
  ///   pause, to find out what the way takes.
  mutating func arrived(at time: MediaTime, beginsAnew: @autoclosure () -> Bool = true) -> Change? {
    hasCome = true
    if since != nil { since = time }
    if let pausedSince, time - pausedSince > Self.onTheWay, beginsAnew() {
      self.pausedSince = nil
      return .unexpected
    }
    guard isLost else { return nil }
    isLost = false
    return .restored
  }

  /// Whether media is to come: its publisher does not mute it, and nobody has paused it.
  mutating func expect(_ isExpected: Bool, at time: MediaTime) {
    pausedSince = isExpected ? nil : time
    if isExpected != (since != nil) { since = isExpected ? time : nil }
  }

  /// Its media was lost before this began to watch.
  mutating func noteLoss() { isLost = true }

  mutating func poll(at time: MediaTime) -> Change? {
    guard let since, !isLost, time - since >= (hasCome ? Self.patience : Self.firstPatience) else { return nil }
    if hasCome {
      isLost = true
      return .lost
    }
    defer { isMissing = true }
    return isMissing ? nil : .missing
  }
}
