import MediaCore

/// The newest packets of a stream, to send them again.
struct PacketHistory: Sendable {
  private struct Entry {
    let packet: RTPPacket
    let sent: MediaTime
    var lastAnswer: MediaTime?
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

  /// The packet to send once more; nil when it is gone, too old, or was sent again less than `pause` ago and so may
  /// still be on its way.
  mutating func answer(_ number: SequenceNumber, pause: Duration, at time: MediaTime) -> RTPPacket? {
    let slot = slot(number)
    guard let entry = entries[slot], entry.packet.sequenceNumber == number, time - entry.sent <= maximumAge else {
      return nil
    }
    if let last = entry.lastAnswer, time - last < pause { return nil }
    entries[slot]?.lastAnswer = time
    return entry.packet
  }

  private func slot(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (entries.count - 1) }
}
