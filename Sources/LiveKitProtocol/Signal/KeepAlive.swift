import MediaCore

/// When pings leave, what their pongs tell, and when silence means that the link is dead.
struct KeepAlive: Sendable {
  let schedule: PingSchedule
  /// From the last ping that was answered with its own timestamp to the answer, in milliseconds.
  private(set) var roundTrip: Int64 = 0
  private var nextPing: MediaTime
  private var oldestUnanswered: MediaTime?

  init(_ schedule: PingSchedule, at now: MediaTime) {
    self.schedule = schedule
    nextPing = now + schedule.interval
  }

  var nextDeadline: MediaTime { death.map { min($0, nextPing) } ?? nextPing }

  func isDead(at now: MediaTime) -> Bool { death.map { $0 <= now } ?? false }

  /// Counted from the first ping without an answer: later pings must not put it off.
  private var death: MediaTime? { oldestUnanswered.map { $0 + schedule.timeout } }

  /// The ping that is due, if one is. A late call sends one, not all that were missed.
  mutating func ping(at now: MediaTime) -> Livekit_SignalRequest? {
    guard nextPing <= now else { return nil }
    nextPing = now + schedule.interval
    if oldestUnanswered == nil { oldestUnanswered = now }
    var request = Livekit_SignalRequest()
    request.pingReq.timestamp = Self.milliseconds(now)
    request.pingReq.rtt = roundTrip
    return request
  }

  /// - Parameter timestamp: of the ping that is answered; believed only when such a ping is under way.
  mutating func pong(answering timestamp: Int64?, at now: MediaTime) {
    guard let oldest = oldestUnanswered else { return }
    oldestUnanswered = nil
    guard let timestamp, timestamp >= Self.milliseconds(oldest), timestamp <= Self.milliseconds(now) else { return }
    roundTrip = Self.milliseconds(now) - timestamp
  }

  private static func milliseconds(_ time: MediaTime) -> Int64 { time.nanoseconds / 1_000_000 }
}
