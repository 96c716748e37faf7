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

  /// Between those that are timed, so that few are under way at once.
  private static let pause = Duration.milliseconds(500)

  private var isExpecting = false
  /// In the order in which they were sent. One that is lost must not keep the next from being timed.
  private var outstanding: [(info: [UInt8], sent: MediaTime)] = []
  private var newest: (roundTrip: Duration, at: MediaTime)?

  /// The next heartbeat sent is timed.
  /// - Returns: whether it is time for one: not where one has just been sent.
  @discardableResult
  mutating func expect(at time: MediaTime) -> Bool {
    isExpecting = outstanding.last.map { time - $0.sent >= Self.pause } ?? true
    return isExpecting
  }

  /// A packet goes to the peer.
  mutating func sent(_ packet: UnsafeRawBufferPointer, at time: MediaTime) {
    guard isExpecting, let info = Self.info(of: Chunk.heartbeat, in: packet) else { return }
    isExpecting = false
    outstanding.removeAll { time - $0.sent > Self.validity }
    outstanding.append((info, time))
  }

  /// A packet came from the peer.
  mutating func received(_ packet: UnsafeRawBufferPointer, at time: MediaTime) {
    guard !outstanding.isEmpty, let info = Self.info(of: Chunk.heartbeatAcknowledgement, in: packet),
      let index = outstanding.firstIndex(where: { $0.info == info })
    else { return }
    newest = (time - outstanding[index].sent, time)
    // Those before are lost, or overtaken, and say nothing newer.
    outstanding.removeSubrange(...index)
  }

  /// The newest; nil when there is none of the last seconds.
  func roundTrip(at time: MediaTime) -> Duration? {
    newest.flatMap { time - $0.at <= Self.validity ? $0.roundTrip : nil }
  }

  /// When the newest answer came.
  var answered: MediaTime? { newest?.at }

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
