import MediaCore

/// Who spoke when, as the server told it.
///
/// Pure: times are those of the job.
struct SpeakerLog: Sendable {
  struct Turn: Sendable, Equatable {
    var identity: String
    var from: Duration
    var to: Duration
  }

  /// A pause for breath ends no turn.
  static let breath = Duration.seconds(1)
  /// More than a day of a lively room, in some megabytes.
  static let limit = 100_000

  /// Those that are over, in the order of their ends.
  private var over: [Turn] = []
  /// Since when somebody speaks.
  private var open: [String: Duration] = [:]
  /// When the first turn began of those that had no room.
  private var leftOutFrom: Duration?

  /// - Parameter speakers: all who speak from now on.
  mutating func note(_ speakers: Set<String>, at now: Duration) {
    for (identity, from) in open where !speakers.contains(identity) {
      add(Turn(identity: identity, from: from, to: now))
      open[identity] = nil
    }
    for identity in speakers where open[identity] == nil { open[identity] = now }
  }

  /// By their beginnings.
  /// - Parameter now: the end of whoever speaks still.
  func turns(until now: Duration) -> [Turn] {
    ended(at: now).over.sorted { ($0.from, $0.identity) < ($1.from, $1.identity) }
  }

  /// Up to when all turns are there; nil where none had to be left out.
  func end(until now: Duration) -> Duration? { ended(at: now).leftOutFrom }

  private func ended(at now: Duration) -> SpeakerLog {
    var whole = self
    whole.note([], at: now)
    return whole
  }

  private mutating func add(_ turn: Turn) {
    if let last = over.lastIndex(where: { $0.identity == turn.identity }), turn.from - over[last].to < Self.breath {
      over[last].to = turn.to
    } else if over.count < Self.limit {
      over.append(turn)
    } else {
      leftOutFrom = min(leftOutFrom ?? turn.from, turn.from)
    }
  }
}
