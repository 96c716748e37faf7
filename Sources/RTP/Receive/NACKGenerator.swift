import MediaCore

/// Decides which missing packets to ask for, and when (RFC 4585, 6.2.1).
struct NACKGenerator: Sendable {
  private struct Missing {
    let number: Int64
    let since: MediaTime
    var firstRequest: MediaTime?
    var lastRequest: MediaTime?
    var requests = 0

    func isHopeless(at time: MediaTime, retryInterval: Duration, patience: Duration) -> Bool {
      guard time - since < Limit.age else { return true }
      guard requests >= Limit.requests, let firstRequest, let lastRequest, lastRequest - firstRequest >= patience
      else { return false }
      return time - lastRequest >= retryInterval
    }
  }

  private enum Limit {
    static let requests = 12
    static let age = Duration.seconds(1)
    /// From the first request to the last, at least: the way may have grown since it was measured, and what is given up costs
    /// a keyframe, before which LiveKit's server answers nothing.
    static let patience = Duration.milliseconds(450)
    /// Holes beyond this are not worth filling packet by packet: a keyframe costs less.
    static let missing = 500
    /// How long a packet may be overtaken before it is taken for lost.
    static let reorderDelay = Duration.milliseconds(10)
    static let shortestRetry = Duration.milliseconds(20)
    /// Before a round trip is known, the first time and then. LiveKit's server (1.13) passes over what it is asked for
    /// within two round trips of sending it or 100 ms, whichever is less, and does not know them before the first receiver
    /// report.
    static let unmeasuredRetry = (first: Duration.milliseconds(105), next: Duration.milliseconds(35))
    static let largestTolerance = 32
    /// Packets without a reordering after which the tolerance shrinks by one.
    static let calm = 500
  }

  /// In ascending order.
  private var missing: [Missing] = []
  /// The round trip by answers. Where each comes after the second request, as from LiveKit's server on most ways, there is
  /// none, and it never grows by much: what takes longer is asked for again before.
  private var answered: Duration?
  /// The round trip as it was told.
  private var told: Duration?
  /// From the first request for a packet to its coming, by whichever request; nil before one has come.
  private var repair: Duration?
  /// A packet overtaken by this many others is taken for lost without waiting.
  private var tolerance = 2
  private var calmPackets = 0
  /// Never later than the next request is due, and so found without looking at what is missing.
  private var deadline: MediaTime?
  private var firstUnasked: (number: Int64, since: MediaTime)?
  /// What is missing before it is not asked for any more. It is still known, to see how late a repair comes.
  private var wantedFrom = Int64.min

  init() { missing.reserveCapacity(64) }

  var pending: Int { missing.count }

  /// How long a missing packet may take when two of its retransmissions are lost, too; nil before one has come.
  var repairTime: Duration? { repair.map { Limit.reorderDelay + max($0, retryInterval) * 3 } }

  mutating func reset() {
    missing.removeAll(keepingCapacity: true)
    (deadline, firstUnasked) = (nil, nil)
  }

  /// Notes a gap.
  /// - Returns: false when it is too large to be filled; everything missing then counts as lost.
  mutating func noteGap(_ gap: Range<Int64>, at time: MediaTime) -> Bool {
    guard gap.count + missing.count(where: isWanted) <= Limit.missing else {
      reset()
      return false
    }
    for number in gap { missing.append(Missing(number: number, since: time)) }
    if !gap.isEmpty {
      firstUnasked = firstUnasked ?? (gap.lowerBound, time)
      deadline = min(deadline ?? time + Limit.reorderDelay, time + Limit.reorderDelay)
    }
    calmPackets += 1
    if calmPackets >= Limit.calm && tolerance > 2 { (tolerance, calmPackets) = (tolerance - 1, 0) }
    return true
  }

  /// Notes that a missing packet has come, by itself or as a retransmission.
  /// - Parameter isRetransmission: nil where it does not say so (RFC 4585 without RFC 4588): then one that was asked for is.
  mutating func noteArrival(_ number: Int64, highest: Int64, isRetransmission: Bool?, at time: MediaTime) {
    guard let index = index(of: number) else { return }
    let found = missing.remove(at: index)
    if isRetransmission ?? (found.firstRequest != nil) {
      if let asked = found.firstRequest { measure(time - asked, isRoundTrip: found.requests == 1) }
    } else {
      tolerance = max(tolerance, min(Int(highest - number) + 1, Limit.largestTolerance))
      calmPackets = 0
    }
  }

  /// Stops asking for a packet that was found in another one.
  mutating func forget(_ number: Int64) {
    if let index = index(of: number) { missing.remove(at: index) }
  }

  /// Takes a round trip that was measured by something else. A longer one is believed at once, since whoever asks too early
  /// gets everything twice; a shorter one counts half.
  mutating func note(roundTrip sample: Duration) {
    told = max(sample, told.map { ($0 + sample) / 2 } ?? sample)
    findDeadline()
  }

  /// Nobody waits for what is missing before `number` any more.
  mutating func abandon(before number: Int64) {
    wantedFrom = max(wantedFrom, number)
    findDeadline()
  }

  /// The numbers to ask for now, and the newest that counts as lost from now on.
  mutating func poll(highest: Int64, at time: MediaTime) -> (requests: [SequenceNumber], givenUp: Int64?) {
    guard isDue(highest: highest, at: time) else { return ([], nil) }
    defer { findDeadline() }
    let givenUp = giveUp(at: time)
    var requests: [SequenceNumber] = []
    for index in missing.indices where isWanted(missing[index]) && dueTime(of: missing[index], highest: highest) <= time
    {
      missing[index].requests += 1
      missing[index].firstRequest = missing[index].firstRequest ?? time
      missing[index].lastRequest = time
      requests.append(SequenceNumber(UInt16(truncatingIfNeeded: missing[index].number)))
    }
    return (requests, givenUp)
  }

  /// - Returns: the newest of what comes no more.
  private mutating func giveUp(at time: MediaTime) -> Int64? {
    let (retry, patience) = (retryInterval, max(Limit.patience, (roundTrip ?? .zero) * 2))
    let newest = missing.last { $0.isHopeless(at: time, retryInterval: retry, patience: patience) }?.number
    if newest != nil { missing.removeAll { $0.isHopeless(at: time, retryInterval: retry, patience: patience) } }
    return newest
  }

  func nextDeadline(highest: Int64) -> MediaTime? {
    if let firstUnasked, highest - firstUnasked.number >= Int64(tolerance) { return firstUnasked.since }
    return deadline
  }

  private func isDue(highest: Int64, at time: MediaTime) -> Bool {
    nextDeadline(highest: highest).map { $0 <= time } ?? false
  }

  private mutating func findDeadline() {
    (deadline, firstUnasked) = (nil, nil)
    for entry in missing {
      let end = entry.since + Limit.age
      let due = isWanted(entry) ? min(dueTime(of: entry, highest: entry.number), end) : end
      deadline = min(deadline ?? due, due)
      if entry.lastRequest == nil && firstUnasked == nil && isWanted(entry) {
        firstUnasked = (entry.number, entry.since)
      }
    }
  }

  private func isWanted(_ entry: Missing) -> Bool { entry.number >= wantedFrom }

  private var roundTrip: Duration? { told ?? answered }

  private var retryInterval: Duration {
    roundTrip.map { max(Limit.shortestRetry, $0 * 6 / 5 + .milliseconds(5)) } ?? Limit.unmeasuredRetry.next
  }

  private func dueTime(of entry: Missing, highest: Int64) -> MediaTime {
    if let last = entry.lastRequest {
      return last + (roundTrip == nil && entry.requests == 1 ? Limit.unmeasuredRetry.first : retryInterval)
    }
    return highest - entry.number >= Int64(tolerance) ? entry.since : entry.since + Limit.reorderDelay
  }

  /// - Parameter isRoundTrip: only the answer to a single request tells which one it answers (Karn's rule).
  private mutating func measure(_ sample: Duration, isRoundTrip: Bool) {
    // Until many have come sooner a server may not know the way yet.
    repair = (repair ?? Limit.unmeasuredRetry.first).smoothed(with: sample)
    if isRoundTrip { answered = answered?.smoothed(with: sample) ?? sample }
  }

  private func index(of number: Int64) -> Int? {
    var (low, high) = (0, missing.count)
    while low < high {
      let middle = (low + high) / 2
      if missing[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < missing.count && missing[low].number == number ? low : nil
  }
}

extension Duration {
  fileprivate func smoothed(with sample: Duration) -> Duration { (self * 7 + sample) / 8 }
}
