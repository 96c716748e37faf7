import MediaCore

/// The newest packets of a stream, to send them again.
struct PacketHistory: Sendable {
  private struct Entry {
    let packet: RTPPacket
    let sent: MediaTime
    var lastAnswer: MediaTime?
    var answers = 0
  }

  private var entries: [Entry?]
  private let maximumAge: Duration

  /// - Parameter length: how many packets are kept; rounded up to a power of two.
  init(length: Int, maximumAge: Duration) {
    var size = 1
    while size < min(length, 1 << 14) { size *= 2 }
    entries = Array(repeating: nil, count: size)
    self.maximumAge = maximumAge
  }

  mutating func insert(_ packet: RTPPacket, at time: MediaTime) {
    entries[slot(packet.sequenceNumber)] = Entry(packet: packet, sent: time)
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
