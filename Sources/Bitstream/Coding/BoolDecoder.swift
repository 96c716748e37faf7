/// VP8's boolean entropy decoder (RFC 6386, 7).
struct BoolDecoder {
  private let bytes: UnsafeRawBufferPointer
  private var next = 0
  private var range = 255
  /// The window that is compared: eight bits and `spare` more.
  private var value = 0
  private var spare = 0
  /// Whether it had to go on with zeros where there were no more bytes.
  private(set) var isPastEnd = false

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    value = take()
  }

  private mutating func take() -> Int {
    guard next < bytes.count else {
      isPastEnd = true
      return 0
    }
    defer { next += 1 }
    return Int(bytes[next])
  }

  mutating func flag() -> Bool {
    let split = 1 + ((range - 1) * 128) >> 8
    let isSet = value >= split << spare
    if isSet {
      value -= split << spare
      range -= split
    } else {
      range = split
    }
    let shift = UInt8(range).leadingZeroBitCount
    range <<= shift
    spare -= shift
    if spare < 0 {
      value = value << 8 | take()
      spare += 8
    }
    return isSet
  }

  mutating func literal(_ count: Int) -> Int {
    (0..<count).reduce(0) { value, _ in value << 1 | (flag() ? 1 : 0) }
  }

  /// A flag, and when it is set a number of `count` bits with what stands behind it.
  mutating func skipOptional(_ count: Int) {
    if flag() { _ = literal(count) }
  }
}
