import MediaCore

/// Which packets to ask for again, and when (RFC 4585, 6.2.1).
struct NACKGenerator: Sendable {
  enum Outcome { case tracked, gapTooLarge }

  private struct Missing {
    var number: Int64
    var nextRequest: MediaTime
    var requests = 0
    var since: MediaTime
  }

  /// A packet that overtook its neighbours shall not set off a request: this much patience first.
  private static let reorderTolerance = Duration.milliseconds(5)
  /// About a round trip; asked again after that.
  private static let interval = Duration.milliseconds(30)
  private static let requestLimit = 10
  private static let ageLimit = Duration.seconds(1)
  private static let gapLimit: Int64 = 300
  private static let listLimit = 500

  private var missing: [Missing] = []
  private var highest: Int64?
  private var hasAbandoned = false

  /// Notes an arrival: new numbers in between are missing from now on.
  mutating func record(_ number: Int64, isNewest: Bool, at time: MediaTime) -> Outcome {
    guard let highest else {
      self.highest = number
      return .tracked
    }
    guard isNewest, number > highest else {
      missing.removeAll { $0.number == number }
      return .tracked
    }
    self.highest = number
    let gap = number - highest - 1
    guard gap <= Self.gapLimit else {
      missing.removeAll()
      return .gapTooLarge
    }
    for lost in 0..<gap where missing.count < Self.listLimit {
      missing.append(Missing(number: highest + 1 + lost, nextRequest: time + Self.reorderTolerance, since: time))
    }
    return .tracked
  }

  func isDue(at time: MediaTime) -> Bool { missing.contains { $0.nextRequest <= time } }

  mutating func poll(at time: MediaTime) -> [SequenceNumber] {
    guard !missing.isEmpty else { return [] }
    var due: [SequenceNumber] = []
    for index in missing.indices where missing[index].nextRequest <= time {
      missing[index].requests += 1
      missing[index].nextRequest = time + Self.interval
      due.append(SequenceNumber(UInt16(truncatingIfNeeded: missing[index].number)))
    }
    let before = missing.count
    missing.removeAll { $0.requests >= Self.requestLimit || time - $0.since > Self.ageLimit }
    if missing.count < before { hasAbandoned = true }
    return due
  }

  /// True once after a packet was given up.
  mutating func takeAbandoned() -> Bool {
    defer { hasAbandoned = false }
    return hasAbandoned
  }
}

/// When to send a PLI: at once when a keyframe is needed, and again until one comes, but not faster than a sender can
/// make them.
struct KeyframeRequester: Sendable {
  private static let interval = Duration.milliseconds(400)
  private var isNeeded = false
  private var lastRequest: MediaTime?

  mutating func request() { isNeeded = true }
  mutating func satisfied() { isNeeded = false }

  func isDue(at time: MediaTime) -> Bool { isNeeded && (lastRequest.map { time - $0 >= Self.interval } ?? true) }

  mutating func poll(at time: MediaTime) -> Bool {
    guard isDue(at: time) else { return false }
    lastRequest = time
    return true
  }
}
