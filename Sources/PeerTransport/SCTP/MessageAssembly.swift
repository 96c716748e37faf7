/// Puts messages together that come in parts. Pure.
struct MessageAssembly {
  private let limit: Int
  private var partial: [UInt16: [UInt8]] = [:]
  /// Streams of which a message is left out because it is too long, until it ends.
  private var skipping: Set<UInt16> = []

  /// - Parameter limit: bytes of the longest message.
  init(limit: Int) { self.limit = limit }

  /// - Parameter isEnd: whether the message ends with it.
  /// - Returns: the message, once it is whole.
  mutating func add(_ bytes: [UInt8], of stream: UInt16, isEnd: Bool) -> [UInt8]? {
    var message = partial.removeValue(forKey: stream) ?? []
    guard message.count + bytes.count <= limit, !skipping.contains(stream) else {
      if isEnd { skipping.remove(stream) } else { skipping.insert(stream) }
      return nil
    }
    message += bytes
    guard !isEnd else { return message }
    partial[stream] = message
    return nil
  }
}
