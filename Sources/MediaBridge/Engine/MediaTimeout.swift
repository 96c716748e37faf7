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
    /// It goes on, although it is paused.
    case unabated
  }

  /// How long media may be away before it counts as lost: longer than Opus is silent for silence (0.4 s) and than a
  /// shared screen on which nothing moves (1 s).
  static let patience = Duration.seconds(2)
  /// How long the first packet may take.
  static let firstPatience = Duration.seconds(10)

  private var hasCome = false
  private var isLost = false
  private var isMissing = false
  /// Since when nothing came that should have; nil while nothing is expected.
  private var since: MediaTime?
  /// Of a track of which nothing is expected.
  private var pause: MediaPause?

  init(at time: MediaTime) { since = time }

  /// A packet has come.
  /// - Parameters:
  ///   - isNew: whether it is newer than all before it.
  ///   - beginsAnew: whether whoever is paused could begin with it: a server also repeats what was before the
  ///     pause, to find out what the way takes.
  mutating func arrived(
    at time: MediaTime, isNew: Bool = true, beginsAnew: @autoclosure () -> Bool = true
  ) -> Change? {
    hasCome = true
    if since != nil { since = time }
    if let change = pause?.arrived(at: time, isNew: isNew, beginsAnew: beginsAnew()) { return change }
    guard isLost else { return nil }
    isLost = false
    return .restored
  }

  /// Whether media is to come: its publisher does not mute it, and nobody has paused it.
  mutating func expect(_ isExpected: Bool, at time: MediaTime) {
    pause = isExpected ? nil : MediaPause(since: time)
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

/// What comes of a track that is paused, each told once.
private struct MediaPause: Sendable {
  /// How long what was sent before it may take.
  private static let onTheWay = Duration.seconds(1)
  /// How long new media has to go on behind that: LiveKit's server sends blank frames for a second when it mutes.
  private static let persistence = Duration.seconds(2)

  let since: MediaTime
  private var isBeginningTold = false
  private var isFlowTold = false
  /// Since when new media comes, and when it came last.
  private var flow: (first: MediaTime, last: MediaTime)?

  init(since: MediaTime) { self.since = since }

  mutating func arrived(
    at time: MediaTime, isNew: Bool, beginsAnew: @autoclosure () -> Bool
  ) -> MediaTimeout.Change? {
    guard time - since > Self.onTheWay else { return nil }
    let goesOn = isNew && goesOn(at: time)
    if !isBeginningTold, beginsAnew() {
      isBeginningTold = true
      return .unexpected
    }
    guard goesOn, !isFlowTold else { return nil }
    isFlowTold = true
    return .unabated
  }

  private mutating func goesOn(at time: MediaTime) -> Bool {
    let first = flow.flatMap { time - $0.last < MediaTimeout.patience ? $0.first : nil } ?? time
    flow = (first, time)
    return time - first >= Self.persistence
  }
}
