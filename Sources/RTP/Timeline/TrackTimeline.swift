import MediaCore

/// One track's part of a `SenderTimeline`. Times are nanoseconds; "media time" is the extended timestamp in
/// nanoseconds, which starts anywhere.
struct TrackTimeline: Sendable {
  private enum Limit {
    /// An error beyond this is corrected at once: nobody would wait for it to slew away.
    static let jump: UInt64 = 500_000_000
    /// While a track is this young, little depends on its placement yet: audio is put where it belongs at once, which is
    /// heard less than many corrections, and video moves by half of the time that passes, so that no frame is ahead of
    /// the one before.
    static let settling = Duration.seconds(1)
    static let settlingSlew: Int64 = 2
    /// A placement moves by a fiftieth of the time that passes.
    static let slew: Int64 = 50
    /// Video that is further from its place than anybody takes for one moment with its audio (ITU-R BT.1359) moves by a
    /// fifth: frames may come closer together for a while, which audio may not.
    static let videoSlew: Int64 = 5
    static let lipSync: UInt64 = 40_000_000
    /// Timestamps and arrivals that differ by more in their advance belong to a stream that counts anew.
    static let discontinuity: Int64 = 5_000_000_000
    /// A pause: arrivals advance by this much more than timestamps, and stay behind for this long. After a stall of the
    /// network what it held back comes in a rush, and the delay is soon the old one.
    static let pause: Int64 = 500_000_000
    static let pauseProof = Duration.milliseconds(500)
    /// Packets, or frames, that have to come so late: an encoder that chokes lets few through.
    static let pauseWitnesses = 5
    /// After a pause arrivals stay as late as they are; by so much less late is a rush that is slow.
    static let rush: Int64 = 100_000_000
    /// Reports may move a track this far from where its arrival puts it.
    static let disbelief: UInt64 = 10_000_000_000
  }

  let id: String
  private let clockRate: Int64
  let isVideo: Bool
  private var timestamps = TimestampUnwrapper()
  private var last: (media: Int64, arrival: MediaTime)?
  private var began: MediaTime?
  /// Arrival minus media time, where no report says better.
  private var arrivalOffset = OffsetFilter()
  private struct SuspectedPause: Sendable {
    /// The offset before it.
    let before: Int64
    let since: MediaTime
    /// At that time.
    let offset: Int64
    /// The least since then.
    var least: Int64
    /// Behind the first packet.
    var witnesses = 0
    /// Whether packets have come faster than their timestamps, as after a stall.
    let isDoubtful: Bool

    init(before: Int64, since: MediaTime, offset: Int64, isDoubtful: Bool = false) {
      (self.before, self.since, self.offset, least) = (before, since, offset, offset)
      self.isDoubtful = isDoubtful
    }

    func isProved(at time: MediaTime) -> Bool {
      time - since >= Limit.pauseProof && witnesses >= Limit.pauseWitnesses
    }
  }
  /// Packets are late as after a pause in which the sender's timestamps stood still.
  private var suspectedPause: SuspectedPause?
  private var reports = ReportClock()
  /// What is added to media time now, and at which packet it was moved last.
  private var placement: Int64?
  private var steered: (media: Int64, arrival: MediaTime)?

  init(id: String, clockRate: UInt32, isVideo: Bool) {
    (self.id, self.isVideo) = (id, isVideo)
    self.clockRate = Int64(max(clockRate, 1))
  }

  func time(of timestamp: UInt32) -> MediaTime? {
    guard let placement, let media = media(timestamp) else { return nil }
    return MediaTime(nanoseconds: media &+ placement)
  }

  /// On the sender's clock; nil before its first report.
  func wallTime(of timestamp: UInt32) -> Int64? {
    guard let wallMinusMedia = reports.offset, let media = media(timestamp) else { return nil }
    return media &+ wallMinusMedia
  }

  mutating func note(_ timestamp: UInt32, at arrival: MediaTime) {
    var media = nanoseconds(timestamps.unwrap(timestamp))
    if let last, isBreak(from: last, to: media, at: arrival) {
      restart()
      media = nanoseconds(timestamps.unwrap(timestamp))
    } else if let last {
      watchForPause(from: last, to: media, at: arrival)
      if let suspectedPause, suspectedPause.isProved(at: arrival) { settle(suspectedPause, at: arrival) }
    }
    if last.map({ media > $0.media }) ?? true { last = (media, arrival) }
    began = began ?? arrival
    arrivalOffset.insert(arrival.nanoseconds &- media, at: arrival)
  }

  private func isBreak(from last: (media: Int64, arrival: MediaTime), to media: Int64, at arrival: MediaTime) -> Bool {
    let advance = media &- last.media
    let elapsed = arrival.nanoseconds &- last.arrival.nanoseconds
    // Ahead of time, or far back; merely late is what networks do.
    return advance &- elapsed > Limit.discontinuity || advance < -Limit.discontinuity
  }

  private mutating func watchForPause(
    from last: (media: Int64, arrival: MediaTime), to media: Int64, at arrival: MediaTime
  ) {
    let offset = arrival.nanoseconds &- media
    guard let suspected = suspectedPause else {
      let delay = offset &- (last.arrival.nanoseconds &- last.media)
      if media > last.media && delay > Limit.pause, let least = arrivalOffset.least {
        suspectedPause = SuspectedPause(before: least, since: arrival, offset: offset)
      }
      return
    }
    guard offset &- suspected.before >= Limit.pause else {
      suspectedPause = nil
      return
    }
    guard suspected.offset &- offset < Limit.rush else {
      suspectedPause = SuspectedPause(before: suspected.before, since: arrival, offset: offset, isDoubtful: true)
      return
    }
    suspectedPause?.least = min(suspected.least, offset)
    if media > last.media { suspectedPause?.witnesses += 1 }
  }

  /// Whether what comes may be late for another reason than the network.
  var suspectsPause: Bool { suspectedPause != nil }

  /// Whether what came last is audio behind a gap that may turn out to be a pause. Of a few words, behind which nothing
  /// comes, the time alone proves it.
  mutating func awaitsPlace(at time: MediaTime) -> Bool {
    guard !isVideo, let suspectedPause, !suspectedPause.isDoubtful else { return false }
    guard time - suspectedPause.since >= Limit.pauseProof else { return true }
    if suspectedPause.isProved(at: time) { settle(suspectedPause, at: time) }
    return false
  }

  /// Places what has come since a pause by its arrival, until there is a report of the time behind it.
  private mutating func settle(_ pause: SuspectedPause, at time: MediaTime) {
    reports.forget(pause: pause.least &- pause.before)
    arrivalOffset.reset()
    arrivalOffset.insert(pause.least, at: time)
    (placement, steered, began) = (pause.least, last, time)
    suspectedPause = nil
  }

  /// The sender counts anew.
  private mutating func restart() {
    self = TrackTimeline(id: id, clockRate: UInt32(clockRate), isVideo: isVideo)
  }

  /// - Parameter wall: the report's time on the sender's clock.
  mutating func note(report wall: Int64, timestamp: UInt32) -> ReportClock.Finding {
    guard let media = media(timestamp) else { return .steady }
    return reports.note(wall &- media)
  }

  /// Falls back to arrival until the next report.
  mutating func forgetReports() { reports.forget() }

  /// Moves the placement towards where it should be.
  mutating func steer(wallOffset: Int64?, at time: MediaTime) {
    guard let target = target(wallOffset) else { return }
    guard let placement, let began, let last, let steered else {
      self.placement = target
      steered = last
      return
    }
    // What comes in a rush has been sent over a longer time, and what was held back over a shorter one.
    let elapsed = max(0, min(time.nanoseconds &- steered.arrival.nanoseconds, last.media &- steered.media))
    if last.media > steered.media { self.steered = (last.media, max(time, steered.arrival)) }
    let error = target &- placement
    let isSettling = time - began < Limit.settling
    if error.magnitude > Limit.jump || isSettling && !isVideo {
      self.placement = target
    } else {
      let step = elapsed / slew(error, isSettling: isSettling)
      self.placement = placement &+ min(max(error, -step), step)
    }
  }

  private func slew(_ error: Int64, isSettling: Bool) -> Int64 {
    guard isVideo else { return Limit.slew }
    return isSettling ? Limit.settlingSlew : error.magnitude > Limit.lipSync ? Limit.videoSlew : Limit.slew
  }

  private func target(_ wallOffset: Int64?) -> Int64? {
    guard let wallMinusMedia = reports.offset, let wallOffset, let arrival = arrivalOffset.least else {
      return arrivalOffset.least
    }
    let told = wallMinusMedia &+ wallOffset
    // A report that puts the track far from its arrival is wrong, or another track's is.
    return (told &- arrival).magnitude < Limit.disbelief ? told : arrival
  }

  private func media(_ timestamp: UInt32) -> Int64? { timestamps.peek(timestamp).map(nanoseconds) }

  private func nanoseconds(_ timestamp: Int64) -> Int64 {
    let (seconds, rest) = timestamp.quotientAndRemainder(dividingBy: clockRate)
    return seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / clockRate
  }
}
