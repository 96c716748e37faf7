import MediaCore

/// The bitrate at which no queue grows: multiplicative increase, slow where it was too much before, and a decrease below
/// what came when a queue grows (draft-ietf-rmcat-gcc-02, 5.5).
struct DelayBasedRate: Sendable {
  private enum State: Sendable { case hold, increase }

  private static let decrease = 0.85
  /// At once.
  private static let deepest = 0.5
  /// A second.
  private static let (increase, carefulIncrease) = (0.08, 0.04)
  /// How long a bitrate that was too much is remembered.
  private static let memory = Duration.seconds(10)

  /// Nil while nothing has been too much.
  private(set) var bitrate: Double?
  private var state = State.hold
  /// What came when it was too much, and when that was.
  private var capacity: (bitrate: Double, time: MediaTime)?
  private var lastUpdate: MediaTime?

  /// - Parameters:
  ///   - arriving: bits a second that come.
  ///   - ceiling: more is not to be believed; an estimate that is above already stays.
  ///   - roundTrip: how long the effect of a decrease takes to be seen.
  /// - Returns: whether it was lowered.
  mutating func update(
    _ signal: DelayTrend.Signal, arriving: Double, ceiling: Double, roundTrip: Duration, at time: MediaTime
  ) -> Bool {
    let elapsed = min(lastUpdate.map { (time - $0).seconds } ?? 0, 1)
    lastUpdate = time
    switch signal {
    case .overuse: return lower(arriving, roundTrip, at: time)
    case .underuse: state = .hold
    case .normal:
      if state == .increase { raise(ceiling, elapsed, at: time) }
      state = .increase
    }
    return false
  }

  private mutating func lower(_ arriving: Double, _ roundTrip: Duration, at time: MediaTime) -> Bool {
    let pause = max(roundTrip + .milliseconds(100), .milliseconds(200))
    // The decrease before is not seen yet.
    if let capacity, bitrate != nil, time - capacity.time < pause { return false }
    state = .hold
    capacity = (arriving, time)
    // Little comes, too, where a machine stood still for a moment.
    let lowered = max(arriving * Self.decrease, (bitrate ?? 0) * Self.deepest)
    guard lowered < bitrate ?? .infinity else { return false }
    bitrate = lowered
    return true
  }

  private mutating func raise(_ ceiling: Double, _ elapsed: Double, at time: MediaTime) {
    guard let bitrate, bitrate < ceiling else { return }
    if let known = capacity, time - known.time > Self.memory { capacity = nil }
    let isNear = capacity.map { bitrate > $0.bitrate * 0.8 && bitrate < $0.bitrate * 1.1 } ?? false
    let share = (isNear ? Self.carefulIncrease : Self.increase) * elapsed
    self.bitrate = min(ceiling, bitrate * (1 + share))
  }

  /// So much is sent and comes, and of its delay nothing is known.
  mutating func pass(_ sent: Double, _ ceiling: Double, at time: MediaTime) {
    bitrate = bitrate.map { max($0, min(sent, ceiling)) }
    _ = update(.normal, arriving: sent, ceiling: ceiling, roundTrip: .zero, at: time)
  }

  /// So much has passed.
  mutating func raise(to passed: Double) { bitrate = bitrate.map { max($0, passed) } }

  /// Nobody says anything of what is sent.
  mutating func lower(by factor: Double, from sent: Double, to least: Double) {
    bitrate = max(min(bitrate ?? sent, sent) * factor, least)
    state = .hold
  }
}
