import MediaCore

/// What was sent under transport-wide numbers, until the other side says when it came.
struct SentPackets: Sendable {
  /// A packet that came.
  struct Arrival: Sendable {
    var sent: MediaTime
    /// By the other side's clock.
    var arrived: MediaTime
    /// On the link, what went out without a number before it among them.
    var bytes: Int
  }

  /// What a message says that was not known.
  struct News: Sendable {
    var arrivals: [Arrival] = []
    /// Of `total` that are news and were sent from `begin` on; negative where packets came late that were called lost.
    var lost = 0
    var total = 0
    /// From the newest of the packets to the message.
    var roundTrip: Duration?
  }

  private struct Entry: Sendable {
    var number: UInt16
    var sent: MediaTime
    var bytes: Int
    var isLost = false
  }

  /// Some seconds of a fast connection; a power of two.
  private static let length = 8192
  private static let tick: Int64 = 250_000
  /// Over so long arrivals are counted.
  private static let longestGap = Duration.milliseconds(500)

  private var entries = [Entry?](repeating: nil, count: SentPackets.length)
  /// Bytes without a number since `newest`.
  private var unnumbered = 0
  /// When the newest one with a number was sent.
  private var newest: MediaTime?
  private var reference = Unwrapper<UInt32>()
  /// The number behind the newest one that was reported.
  private var expected: SequenceNumber?

  mutating func insert(bytes: Int, number: SequenceNumber?, at time: MediaTime) {
    guard let number else {
      unnumbered += bytes
      return
    }
    // An hour of audio did not come with the video behind it.
    if newest.map({ time - $0 > Self.longestGap }) ?? true { unnumbered = 0 }
    newest = time
    // What is sent again as it was has its number already.
    let isRepeated = entries[slot(number)]?.number == number.rawValue
    entries[slot(number)] = Entry(
      number: number.rawValue, sent: time, bytes: bytes + unnumbered,
      isLost: isRepeated && entries[slot(number)]?.isLost == true)
    unnumbered = 0
  }

  /// - Parameter begin: of what was sent before it does not matter what got lost.
  mutating func read(_ feedback: TransportFeedback, since begin: MediaTime?, at time: MediaTime) -> News {
    var news = News()
    let unreported = skip(to: feedback)
    var missing = 0
    var arrived = unwrap(feedback.referenceTime)
    for (index, delta) in feedback.deltas.enumerated() {
      if let delta { arrived &+= Int64(delta) * Self.tick }
      let number = feedback.firstSequence + index
      guard let entry = entries[slot(number)], entry.number == number.rawValue else { continue }
      let change = (delta == nil ? 1 : 0) - (entry.isLost ? 1 : 0)
      missing += change
      if begin.map({ entry.sent >= $0 }) ?? true {
        news.lost += change
        if !entry.isLost { news.total += 1 }
      }
      guard delta != nil else {
        entries[slot(number)]?.isLost = true
        continue
      }
      entries[slot(number)] = nil
      news.arrivals.append(
        Arrival(sent: entry.sent, arrived: MediaTime(nanoseconds: arrived), bytes: entry.bytes))
      let roundTrip = time - entry.sent
      news.roundTrip = news.roundTrip.map { min($0, roundTrip) } ?? roundTrip
    }
    // They came as these did.
    if let first = news.arrivals.indices.first {
      news.arrivals[first].bytes += unreported * news.arrivals.count / (news.arrivals.count + max(missing, 0))
    }
    return news
  }

  /// The time from which a message counts, in nanoseconds.
  /// - Parameter time: 24 bits, in units of 64 ms.
  private mutating func unwrap(_ time: UInt32) -> Int64 {
    // As the upper ones of 32 bits.
    let steps = reference.unwrap(time << 8) >> 8
    // A server that tells nonsense gets far with that, but not to where nanoseconds overflow.
    guard steps.magnitude < 1 << 34 else {
      reference = Unwrapper()
      return unwrap(time)
    }
    return steps * 64_000_000
  }

  /// A message before this one was lost: what it was about neither came nor was lost for all we know.
  /// - Returns: the bytes of that.
  private mutating func skip(to feedback: TransportFeedback) -> Int {
    let end = feedback.firstSequence + feedback.deltas.count
    defer { expected = expected.map { end.isAfter($0) ? end : $0 } ?? end }
    guard let expected else { return 0 }
    var bytes = 0
    for step in 0..<min(max(feedback.firstSequence.distance(from: expected), 0), Self.length) {
      let number = expected + step
      guard let entry = entries[slot(number)], entry.number == number.rawValue else { continue }
      bytes += entry.bytes
      entries[slot(number)] = nil
    }
    return bytes
  }

  private func slot(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (Self.length - 1) }
}
