/// Reliable messages for which a client has no room yet, in order. Pure.
struct MessageBacklog {
  /// Bytes that may wait for one client: a file of some size for who is slow for a moment, and no more for who is dead.
  static let limit = 32 << 20

  private var messages: ArraySlice<[UInt8]> = []
  private var length = 0
  /// Whether somebody comes back to it.
  var isAwaitingRoom = false

  var isEmpty: Bool { messages.isEmpty }

  /// - Returns: false where too much waits already; then it is left out.
  mutating func add(_ message: [UInt8]) -> Bool {
    guard length + message.count <= Self.limit else { return false }
    messages.append(message)
    length += message.count
    return true
  }

  /// Sends from the oldest one on, as long as `send` takes them.
  mutating func drain(_ send: ([UInt8]) -> Bool) {
    while let message = messages.first, send(message) {
      messages.removeFirst()
      length -= message.count
    }
    // A slice keeps what was in front of it.
    if messages.isEmpty { messages = [] }
  }
}
