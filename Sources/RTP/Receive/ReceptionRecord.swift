import MediaCore

/// What a reception report says about a stream: loss and jitter (RFC 3550, A.3 and A.8), last sender report.
struct ReceptionRecord: Sendable {
  private let clockRate: Double
  /// Packets that came as sent, repairs not counted.
  private(set) var received: Int64 = 0
  private(set) var jitter: Double = 0
  private var first: Int64?
  private(set) var highest: Int64 = 0
  /// Until the sender began to count from somewhere else.
  private var lostBefore: Int64 = 0
  private var reported: (expected: Int64, received: Int64) = (0, 0)
  private var lastTransit: (timestamp: UInt32, arrival: MediaTime)?
  private var senderReport: (middle: UInt32, arrival: MediaTime)?

  init(clockRate: UInt32) { self.clockRate = Double(clockRate) }

  private var expected: Int64 { first.map { highest - $0 + 1 } ?? 0 }
  var lost: Int64 { lostBefore + expected - received }
  /// True when packets came since the last report, which then is due (RFC 3550, 6.4).
  var hasNews: Bool { received != reported.received }

  mutating func restart() {
    let lost = lost
    self = ReceptionRecord(clockRate: UInt32(clockRate))
    lostBefore = lost
  }

  /// Counts packet number `extended`; `isOriginal` is false for a retransmission.
  mutating func count(_ extended: Int64, isOriginal: Bool) {
    highest = first == nil ? extended : max(highest, extended)
    first = min(first ?? extended, extended)
    if isOriginal { received += 1 }
  }

  /// Takes the first packet of each timestamp: those that follow it are paced by the sender, not by the network.
  mutating func measureJitter(timestamp: UInt32, at arrival: MediaTime) {
    guard let last = lastTransit else {
      lastTransit = (timestamp, arrival)
      return
    }
    guard timestamp != last.timestamp else { return }
    let sent = Double(Int32(bitPattern: timestamp &- last.timestamp))
    let difference = abs((arrival - last.arrival).seconds * clockRate - sent)
    lastTransit = (timestamp, arrival)
    // Five seconds apart is a stream that paused or counts anew.
    if difference < 5 * clockRate { jitter += (difference - jitter) / 16 }
  }

  mutating func receive(_ report: SenderReport, at time: MediaTime) { senderReport = (report.ntp.middle, time) }

  /// The report on the time since the last one.
  mutating func makeBlock(_ ssrc: SSRC, at time: MediaTime) -> ReportBlock {
    let (expected, received) = (expected, received)
    let newlyExpected = expected - reported.expected
    let newlyLost = newlyExpected - (received - reported.received)
    reported = (expected, received)
    let fraction = newlyExpected > 0 && newlyLost > 0 ? min(255, newlyLost * 256 / newlyExpected) : 0
    let delay = senderReport.map { max(0, (time - $0.arrival).seconds) } ?? 0
    return ReportBlock(
      ssrc: ssrc, fractionLost: UInt8(fraction), cumulativeLost: Int(expected - received),
      highestSequence: UInt32(truncatingIfNeeded: highest), jitter: UInt32(min(jitter, Double(UInt32.max / 2))),
      lastSenderReport: senderReport?.middle ?? 0,
      delaySinceLastSenderReport: UInt32(min(delay * 65536, Double(UInt32.max / 2))))
  }
}
