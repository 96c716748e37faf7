import LiveKitProtocol

/// Which messages of one sender go on, as LiveKit's server has it. Pure.
struct MessageGate {
  /// Into so many bytes it reads a message (`transport.go`). Each fits an empty queue, so that none stops those behind it.
  static let longest = 65_535

  /// The highest number of a reliable message.
  private var newest: UInt32 = 0

  /// - Returns: false for a reliable message that has come before: after a resume a client may send it again.
  mutating func admits(_ packet: Livekit_DataPacket, isReliable: Bool) -> Bool {
    // Older clients do not number what they send.
    guard isReliable, packet.sequence > 0 else { return true }
    guard packet.sequence > newest else { return false }
    newest = packet.sequence
    return true
  }
}
