import MediaCore

/// Times heartbeats on their way to the peer and back (RFC 9260, 8.3), which answers each at once with what it carries.
struct HeartbeatTimer {
  private enum Chunk {
    static let heartbeat: UInt8 = 4
    static let heartbeatAcknowledgement: UInt8 = 5
  }

  private static let commonHeaderLength = 12
  private static let chunkHeaderLength = 4
  /// An answer that is older says nothing of the way as it is now.
  private static let validity = Duration.seconds(5)

  private var isExpecting = false
  private var outstanding: (info: [UInt8], sent: MediaTime)?
  private var newest: (roundTrip: Duration, at: MediaTime)?

  /// The next heartbeat sent is timed, unless one is under way that may still be answered.
  mutating func expect(at time: MediaTime) {
    isExpecting = outstanding.map { time - $0.sent > Self.validity } ?? true
  }

  /// A packet goes to the peer.
  mutating func sent(_ packet: UnsafeRawBufferPointer, at time: MediaTime) {
    guard isExpecting, let info = Self.info(of: Chunk.heartbeat, in: packet) else { return }
    isExpecting = false
    outstanding = (info, time)
  }

  /// A packet came from the peer.
  mutating func received(_ packet: UnsafeRawBufferPointer, at time: MediaTime) {
    guard let asked = outstanding, Self.info(of: Chunk.heartbeatAcknowledgement, in: packet) == asked.info else {
      return
    }
    outstanding = nil
    newest = (time - asked.sent, time)
  }

  /// The newest; nil when there is none of the last seconds.
  func roundTrip(at time: MediaTime) -> Duration? {
    newest.flatMap { time - $0.at <= Self.validity ? $0.roundTrip : nil }
  }

  /// What the first chunk of a type carries (RFC 9260, 3.2).
  private static func info(of type: UInt8, in packet: UnsafeRawBufferPointer) -> [UInt8]? {
    var offset = commonHeaderLength
    while offset + chunkHeaderLength <= packet.count {
      let length = Int(packet[offset + 2]) << 8 | Int(packet[offset + 3])
      guard length >= chunkHeaderLength, offset + length <= packet.count else { return nil }
      if packet[offset] == type { return Array(packet[(offset + chunkHeaderLength)..<(offset + length)]) }
      offset += (length + 3) & ~3
    }
    return nil
  }
}
