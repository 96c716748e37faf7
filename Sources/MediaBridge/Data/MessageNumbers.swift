import LiveKitProtocol

/// Numbers the reliable messages of one session. Pure.
///
/// By them LiveKit's server repeats for whoever is just joining what is sent meanwhile (`SendDataMessage`), and nothing
/// else. It drops what has no higher number than what came before, so that numbers are given in the order in which
/// messages are taken, and to none that is not.
struct MessageNumbers {
  /// Bytes by which a number makes a message longer, at most.
  static let size = 7

  private var newest: UInt32 = 0

  /// - Parameter take: whether a message goes on its way.
  /// - Returns: the same.
  mutating func send(_ message: [UInt8], _ take: ([UInt8]) -> Bool) -> Bool {
    // As older clients send it: after the last number there is none.
    guard newest < .max else { return take(message) }
    var packet = Livekit_DataPacket()
    packet.sequence = newest + 1
    // Two messages one behind the other are one, with the fields of both.
    guard let number: [UInt8] = try? packet.serializedBytes(), take(message + number) else { return false }
    newest += 1
    return true
  }
}
