import MediaCore

/// When a stream has lost its server, when it is tried again, and when it is over. Pure.
///
/// The rules are those of LiveKit's Egress: one of which nothing was ever taken has a wrong address or key, and is over at
/// once; another is tried again at once, then ever more seldom, until it has been away for too long. One that takes a
/// little and hangs up is not back. Servers hang up, too, on who connects and has nothing to send for a while, such as
/// a mixed room in which nobody is: that is no refusal, and it is connected anew once there is something.
struct StreamRetry: Sendable {
  enum Step: Equatable, Sendable {
    case wait
    /// It has just broken: what is in its pipeline goes nowhere.
    case lost
    /// Its connection came to an end while there was nothing to send: it has none until there is.
    case rest
    /// Another pipeline is to be made now.
    case reopen
    case over
  }

  /// What another pipeline waits for.
  private enum Pause: Sendable {
    case time(MediaTime)
    /// Something to send.
    case media
  }

  /// How long it may be away; zero for one that is not connected anew.
  let limit: Duration
  /// How long nothing may be taken of what waits: where it may not be away for long, that is no loss at once.
  private var stallLimit: Duration { min(max(limit, Self.stallLimits.least), Self.stallLimits.most) }

  /// Whether anything was ever taken for long enough to refuse it.
  private(set) var wasTaken = false
  /// Whether a connection stood, though nothing was sent: its address and key are right.
  private var hasStood = false
  /// Since when it has been away; nil while it is not.
  private(set) var awaySince: MediaTime?
  private var awayBefore = Duration.zero
  /// When it was lost first since a connection last stood; nil while one does.
  private var lostSince: MediaTime?
  private var attempts = 0
  private var pause: Pause?
  /// When the pipeline that runs was opened, and until when there was nothing to send.
  private var idle: (since: MediaTime, until: MediaTime)
  /// By the pipeline that runs.
  private var taken = 0
  private var takenSince: MediaTime?
  private var movedAt: MediaTime

  init(limit: Duration, at now: MediaTime) {
    (self.limit, movedAt) = (limit, now)
    idle = (now, now)
  }

  private static let stallLimits = (least: Duration.seconds(5), most: Duration.seconds(10))
  private static let delays: [Duration] = [.zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]
  /// Elements that wait for a connection hold less.
  static let leastTaken = 8
  /// A server may take a little before it looks at the key.
  private static let trial = Duration.seconds(1)
  /// From then on a loss is another one.
  private static let standing = Duration.seconds(5)

  /// Notes another pipeline.
  mutating func opened(at now: MediaTime) {
    (taken, takenSince, movedAt, pause) = (0, nil, now, nil)
    idle = (now, now)
  }

  /// - Parameters:
  ///   - taken: buffers that the pipeline has taken since it was opened.
  ///   - waiting: buffers that it has not taken yet.
  ///   - isBroken: whether it said that it cannot go on.
  ///   - isReached: whether that is anything but that no server was reached.
  ///   - isIdle: whether there is nothing to send yet.
  mutating func look(
    taken: Int, waiting: Int, isBroken: Bool, isReached: Bool, isIdle: Bool, at now: MediaTime
  ) -> Step {
    switch pause {
    case .time(let time): return now >= time ? .reopen : .wait
    case .media: return isIdle ? .wait : .reopen
    case nil: break
    }
    if isIdle { idle.until = now }
    if taken > self.taken || waiting == 0 { movedAt = now }
    if taken > self.taken, taken >= Self.leastTaken { tookSome(at: now) }
    self.taken = taken
    guard isBroken || now - movedAt >= stallLimit else { return .wait }
    guard hasWaited, isReached || !isIdle else { return broke(at: now) }
    (pause, hasStood) = (.media, hasStood || isIdle)
    return .rest
  }

  /// Whether there was nothing to send for longer than a server takes to refuse a stream. Some connections tell only
  /// when something is sent that they have ended.
  private var hasWaited: Bool { !wasTaken && idle.until - idle.since >= Self.standing }

  /// For how long it has been away in all.
  func away(at now: MediaTime) -> Duration { awayBefore + (awaySince.map { now - $0 } ?? .zero) }

  private mutating func tookSome(at now: MediaTime) {
    let since = takenSince ?? now
    takenSince = since
    (awayBefore, awaySince) = (away(at: now), nil)
    if now - since >= Self.trial { wasTaken = true }
    if now - since >= Self.standing { (lostSince, attempts) = (nil, 0) }
  }

  private mutating func broke(at now: MediaTime) -> Step {
    let since = lostSince ?? now
    (lostSince, awaySince) = (since, awaySince ?? now)
    guard wasTaken || hasStood, now - since < limit else { return .over }
    let delay = Self.delays[min(attempts, Self.delays.count - 1)]
    attempts += 1
    pause = .time(min(now + delay, since + limit))
    return .lost
  }
}
