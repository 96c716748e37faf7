/// A stream that ends too early, or says what cannot be or is not supported here.
struct UnreadableStream: Error {}

/// Reads bits from the highest down, and the Exp-Golomb codes of H.264 (9.1).
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func bit() throws(UnreadableStream) -> Bool {
    guard position >> 3 < bytes.count else { throw UnreadableStream() }
    defer { position += 1 }
    return bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1 == 1
  }

  mutating func bits(_ count: Int) throws(UnreadableStream) -> Int {
    var value = 0
    for _ in 0..<count { value = value << 1 | (try bit() ? 1 : 0) }
    return value
  }

  mutating func skip(_ count: Int) { position += count }

  mutating func unsigned() throws(UnreadableStream) -> Int {
    var zeros = 0
    while try !bit() {
      zeros += 1
      guard zeros <= 32 else { throw UnreadableStream() }
    }
    return (1 << zeros) - 1 + (try bits(zeros))
  }

  mutating func signed() throws(UnreadableStream) -> Int {
    let code = try unsigned()
    return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
  }

  /// A number that the standard keeps within bounds.
  mutating func unsigned(upTo limit: Int) throws(UnreadableStream) -> Int {
    let value = try unsigned()
    guard value <= limit else { throw UnreadableStream() }
    return value
  }
}
