import MediaCore

/// When a stream has lost its server, when it is tried again, and when it is over. Pure.
///
/// The rules are those of LiveKit's Egress: one of which nothing was ever taken has a wrong address or key, and is over at
/// once; another is tried again at once, then ever more seldom, until it has been away for too long.
struct StreamRetry: Sendable {
  enum Step: Equatable, Sendable {
    case wait
    /// It has just broken: what is in its pipeline goes nowhere.
    case lost
    /// Another pipeline is to be made now.
    case reopen
    case over
  }

  /// How long it may be away.
  let limit: Duration
  /// How long nothing may be taken of what waits.
  let stallLimit: Duration

  /// Whether anything was ever taken.
  private(set) var wasTaken = false
  /// Since when it has been away; nil while it is not.
  private(set) var awaySince: MediaTime?
  private var awayBefore = Duration.zero
  private var attempts = 0
  private var tryAt: MediaTime?
  /// By the pipeline that runs.
  private var taken = 0
  private var movedAt: MediaTime

  init(limit: Duration, stallLimit: Duration, at now: MediaTime) {
    (self.limit, self.stallLimit, movedAt) = (limit, stallLimit, now)
  }

  private static let delays: [Duration] = [.zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]
  /// Elements that wait for a connection hold less.
  static let leastTaken = 8

  /// Notes another pipeline.
  mutating func opened(at now: MediaTime) { (taken, movedAt, tryAt) = (0, now, nil) }

  /// - Parameters:
  ///   - taken: buffers that the pipeline has taken since it was opened.
  ///   - waiting: buffers that it has not taken yet.
  ///   - isBroken: whether it said that it cannot go on.
  mutating func look(taken: Int, waiting: Int, isBroken: Bool, at now: MediaTime) -> Step {
    if let tryAt { return now >= tryAt ? .reopen : .wait }
    if taken > self.taken || waiting == 0 { movedAt = now }
    if taken > self.taken, taken >= Self.leastTaken {
      awayBefore = away(at: now)
      (wasTaken, awaySince, attempts) = (true, nil, 0)
    }
    self.taken = taken
    return isBroken || now - movedAt >= stallLimit ? broke(at: now) : .wait
  }

  /// For how long it has been away in all.
  func away(at now: MediaTime) -> Duration { awayBefore + (awaySince.map { now - $0 } ?? .zero) }

  private mutating func broke(at now: MediaTime) -> Step {
    let since = awaySince ?? now
    awaySince = since
    guard wasTaken, now - since < limit else { return .over }
    let delay = Self.delays[min(attempts, Self.delays.count - 1)]
    attempts += 1
    tryAt = min(now + delay, since + limit)
    return .lost
  }
}
