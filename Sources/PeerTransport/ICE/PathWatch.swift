import MediaCore

/// Notices when a path is dead: when nothing comes of the peer any more, be it media, reports or answers to heartbeats.
///
/// RFC 7675, 5.1 gives consent up after 30 s without an answer to a STUN check. libnice 0.1.21 does so after 10 s, in which
/// it sends two checks, each once: on a path that loses half of its packets that happens to connections that are alive. So
/// libnice only keeps the path open, and whatever authenticates the peer counts as its answer. Silence is believed sooner
/// on a path that was busy until then, so that media finds another way before the server gives the participant up.
///
/// Pure, for one path of which the peer answers heartbeats.
struct PathWatch {
  enum Verdict: Equatable {
    case alive
    /// Nothing has come since the last look: a heartbeat shows whether the peer is there.
    case quiet
    case dead
  }

  /// How often to look.
  static let interval = Duration.seconds(2)
  static let idleLimit = Duration.seconds(30)
  static let busyLimit = Duration.seconds(10)
  /// Datagrams in one interval that make a path a busy one: a track of audio alone sends a hundred.
  private static let busyCount = 20

  private var lastHeard: MediaTime
  /// Since the last look, and between the two before.
  private var count = 0
  private var previous = 0
  private var isBusy = false

  init(at time: MediaTime) { lastHeard = time }

  /// A datagram of the peer came.
  mutating func heard(at time: MediaTime) {
    lastHeard = time
    count += 1
  }

  mutating func look(at time: MediaTime) -> Verdict {
    defer { count = 0 }
    guard count == 0 else {
      // A path may die in the middle of an interval, of which then hardly anything is left.
      isBusy = max(count, previous) >= Self.busyCount
      previous = count
      return .alive
    }
    return time - lastHeard >= (isBusy ? Self.busyLimit : Self.idleLimit) ? .dead : .quiet
  }
}
