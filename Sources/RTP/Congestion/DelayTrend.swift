import MediaCore

/// Sees a queue on the way grow, from when packets were sent and when they came (draft-ietf-rmcat-gcc-02, 5): groups of
/// packets, how much more apart they came than they were sent, the trend of that by a line through the newest ones, and a
/// threshold that adapts to how uneven the way is.
struct DelayTrend: Sendable {
  enum Signal: Sendable { case normal, overuse, underuse }

  /// Packets that were sent together.
  fileprivate struct Group: Sendable {
    var firstSent: MediaTime
    var lastSent: MediaTime
    var firstArrival: MediaTime
    var lastArrival: MediaTime
  }

  private static let burst = Duration.milliseconds(5)
  private static let longestBurst = Duration.milliseconds(100)
  private static let window = 20
  private static let smoothing = 0.9
  private static let gain = 4.0

  private(set) var signal = Signal.normal
  private var current: Group?
  private var previous: Group?
  private var line = Line()
  private var threshold = AdaptiveThreshold()

  /// The newest delays: all in milliseconds.
  private struct Line: Sendable {
    var origin: MediaTime?
    var points: [(time: Double, delay: Double)] = []
    var accumulated = 0.0
    var smoothed = 0.0
    var count = 0

    /// How much the delay grows, in milliseconds a millisecond; nil while there is too little to say.
    var slope: Double? {
      guard points.count == DelayTrend.window else { return nil }
      let time = points.reduce(0) { $0 + $1.time } / Double(points.count)
      let delay = points.reduce(0) { $0 + $1.delay } / Double(points.count)
      let (above, below) = points.reduce((0.0, 0.0)) { sums, point in
        let distance = point.time - time
        return (sums.0 + distance * (point.delay - delay), sums.1 + distance * distance)
      }
      return below > 0 ? above / below : nil
    }
  }

  /// In the order of sending.
  mutating func add(_ arrival: SentPackets.Arrival) {
    guard var group = current else {
      current = Group(arrival)
      return
    }
    // Sent before the group was: the order is another one, and says nothing.
    guard arrival.sent >= group.firstSent else { return }
    if belongs(arrival, to: group) {
      group.lastSent = max(group.lastSent, arrival.sent)
      group.lastArrival = max(group.lastArrival, arrival.arrived)
      current = group
      return
    }
    if let previous { compare(group, with: previous) }
    previous = group
    current = Group(arrival)
  }

  /// What a stalled receiver takes all at once is one group as well.
  private func belongs(_ arrival: SentPackets.Arrival, to group: Group) -> Bool {
    if arrival.sent - group.firstSent <= Self.burst { return true }
    let apart = arrival.arrived - group.lastArrival
    let difference = apart - (arrival.sent - group.lastSent)
    // Where the other side's clock was set back, all that follows would belong to it.
    return difference < .zero && apart <= Self.burst && apart > .zero - Self.longestBurst
      && arrival.arrived - group.firstArrival < Self.longestBurst
  }

  private mutating func compare(_ group: Group, with previous: Group) {
    let sent = (group.lastSent - previous.lastSent).seconds * 1000
    let came = (group.lastArrival - previous.lastArrival).seconds * 1000
    // The other side's clock has jumped, or nothing was sent for so long that nothing is left of a queue.
    guard came >= 0, came - sent < 3000, sent < 3000 else {
      line = Line()
      signal = .normal
      return
    }
    let origin = line.origin ?? group.lastArrival
    line.origin = origin
    line.count = min(line.count + 1, 60)
    line.accumulated += came - sent
    line.smoothed = Self.smoothing * line.smoothed + (1 - Self.smoothing) * line.accumulated
    line.points.append(((group.lastArrival - origin).seconds * 1000, line.smoothed))
    if line.points.count > Self.window { line.points.removeFirst() }
    let trend = line.slope.map { $0 * Double(line.count) * Self.gain } ?? 0
    signal = threshold.judge(trend, interval: sent, at: group.lastArrival)
  }
}

extension DelayTrend.Group {
  fileprivate init(_ arrival: SentPackets.Arrival) {
    (firstSent, lastSent) = (arrival.sent, arrival.sent)
    (firstArrival, lastArrival) = (arrival.arrived, arrival.arrived)
  }
}

/// Tells a trend that means something from one that is the way's own unevenness (the draft's 5.4). Milliseconds.
private struct AdaptiveThreshold: Sendable {
  private static let (up, down) = (0.0087, 0.039)
  private static let range = 6.0...600.0
  /// So long it has to last.
  private static let duration = 10.0
  /// A single spike does not change what is usual.
  private static let spike = 15.0

  private var value = 12.5
  private var overuse: (duration: Double, count: Int)?
  private var lastTrend = 0.0
  private var lastUpdate: MediaTime?
  private var signal = DelayTrend.Signal.normal

  mutating func judge(_ trend: Double, interval: Double, at time: MediaTime) -> DelayTrend.Signal {
    defer {
      lastTrend = trend
      adapt(to: abs(trend), at: time)
    }
    guard trend > value else {
      overuse = nil
      signal = trend < -value ? .underuse : .normal
      return signal
    }
    let lasted = overuse.map { ($0.duration + interval, $0.count + 1) } ?? (interval / 2, 1)
    overuse = lasted
    if lasted.0 > Self.duration, lasted.1 > 1, trend >= lastTrend {
      overuse = (0, 0)
      signal = .overuse
    }
    return signal
  }

  private mutating func adapt(to trend: Double, at time: MediaTime) {
    let elapsed = min(max(lastUpdate.map { (time - $0).seconds * 1000 } ?? 0, 0), 100)
    lastUpdate = time
    guard trend <= value + Self.spike else { return }
    let speed = trend < value ? Self.down : Self.up
    value = min(max(value + speed * (trend - value) * elapsed, Self.range.lowerBound), Self.range.upperBound)
  }
}
