import MediaCore

/// Finds out whether a link carries more than there is to send: for a moment that much is sent, filled up with padding, and
/// how fast it comes tells, as with the probes of libwebrtc.
struct LinkProbe: Sendable {
  /// So many bits that the few kilobytes that a router lets through at once do not look like what it carries, within limits.
  private static let bits = 400_000.0
  private static let lengths = Duration.milliseconds(200)...Duration.milliseconds(600)
  /// So much later than sent, what comes waits in a queue: more would keep all else waiting, and tell no more.
  private static let queue = Duration.milliseconds(80)
  /// Nothing comes any more.
  private static let patience = Duration.milliseconds(1500)
  /// What comes slower than that waited in a queue, which has to drain.
  private static let (even, drain) = (0.9, 0.95)

  private let bitrate: Double
  private let begin: MediaTime
  private let length: Duration
  private var sent = 0
  private var newestSent: MediaTime?
  private var first: SentPackets.Arrival?
  private var newest: SentPackets.Arrival?
  private var arrived = 0

  /// - Parameter bitrate: bits a second on the link.
  init(bitrate: Int, at time: MediaTime) {
    self.bitrate = Double(max(1, bitrate))
    begin = time
    length = min(max(.seconds(Self.bits / self.bitrate), Self.lengths.lowerBound), Self.lengths.upperBound)
  }

  /// Notes what is sent meanwhile, padding or not.
  mutating func sent(bytes: Int, at time: MediaTime) {
    guard isSending(at: time) else { return }
    sent += bytes
    newestSent = time
  }

  /// Bytes that are missing to the bitrate; nil once all is sent.
  func missing(at time: MediaTime) -> Int? {
    guard isSending(at: time) else { return nil }
    return max(0, Int(bitrate / 8 * (time - begin).seconds) - sent)
  }

  private func isSending(at time: MediaTime) -> Bool { time >= begin && time - begin < length }

  /// - Parameter arrivals: what is reported now.
  /// - Returns: bits a second that have passed, 0 where nothing has; nil while there is more to come.
  mutating func read(_ arrivals: [SentPackets.Arrival], at time: MediaTime) -> Int? {
    var isOver = time - begin > Self.patience
    for arrival in arrivals where arrival.sent >= begin {
      guard isSending(at: arrival.sent) else {
        isOver = true
        continue
      }
      if first == nil { first = arrival }
      newest = arrival
      arrived += arrival.bytes
      isOver = isOver || arrival.sent == newestSent && !isSending(at: time) || isQueued
    }
    return isOver ? passed : nil
  }

  private var isQueued: Bool {
    guard let first, let newest else { return false }
    return (newest.arrived - first.arrived) - (newest.sent - first.sent) > Self.queue
  }

  /// Of the first packet it is not known for how long it was under way, and of the newest one how long the next would be.
  private var passed: Int {
    guard let first, let newest, newest.sent > first.sent, newest.arrived > first.arrived else { return 0 }
    let sent = Double((arrived - newest.bytes) * 8) / (newest.sent - first.sent).seconds
    let came = Double((arrived - first.bytes) * 8) / (newest.arrived - first.arrived).seconds
    return Int(came >= sent * Self.even ? min(came, sent) : came * Self.drain)
  }
}
