import MediaCore

/// The newest packets of a stream, to send them again.
struct PacketHistory: Sendable {
  private struct Entry {
    let packet: RTPPacket
    let sent: MediaTime
    var lastAnswer: MediaTime?
    var answers = 0
  }

  /// As many as are kept at first: few streams need more.
  private static let usualLength = 512

  private var entries: [Entry?]
  private let length: Int
  private let maximumAge: Duration

  /// - Parameter length: how many packets are kept at the most; rounded up to a power of two.
  init(length: Int, maximumAge: Duration) {
    var size = 1
    while size < min(length, 1 << 14) { size *= 2 }
    self.length = size
    entries = Array(repeating: nil, count: min(size, Self.usualLength))
    self.maximumAge = maximumAge
  }

  mutating func insert(_ packet: RTPPacket, at time: MediaTime) {
    while entries.count < length, isTaken(packet.sequenceNumber, at: time) { grow() }
    entries[slot(packet.sequenceNumber)] = Entry(packet: packet, sent: time)
  }

  /// Whether another packet is in that one's place which may still be asked for.
  private func isTaken(_ number: SequenceNumber, at time: MediaTime) -> Bool {
    guard let other = entries[slot(number)] else { return false }
    return other.packet.sequenceNumber != number && time - other.sent <= maximumAge
  }

  private mutating func grow() {
    let kept = entries
    entries = Array(repeating: nil, count: kept.count * 2)
    for case let entry? in kept { entries[slot(entry.packet.sequenceNumber)] = entry }
  }

  /// The packet to send once more; nil when it is gone, too old, or went out so lately that it may still be on its way.
  mutating func answer(_ number: SequenceNumber, by rule: RTPSender.RepeatRule, at time: MediaTime) -> RTPPacket? {
    let slot = slot(number)
    guard let entry = entries[slot], entry.packet.sequenceNumber == number, time - entry.sent <= maximumAge,
      entry.answers < rule.limit
    else { return nil }
    let earliest = entry.lastAnswer.map { $0 + rule.pause } ?? entry.sent + rule.firstPause
    guard time >= earliest else { return nil }
    entries[slot]?.lastAnswer = time
    entries[slot]?.answers += 1
    return entry.packet
  }

  private func slot(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (entries.count - 1) }
}
