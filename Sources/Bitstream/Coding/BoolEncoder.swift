/// VP8's boolean entropy encoder (RFC 6386, 7).
struct BoolEncoder {
  private var bytes: [UInt8] = []
  private var range = 255
  /// The low end of the interval: eight bits, `pending` more, and perhaps a carry above them.
  private var low = 0
  private var pending = 0

  /// - Parameter probability: of false, in 256ths.
  mutating func write(_ value: Bool, _ probability: UInt8) {
    let split = 1 + ((range - 1) * Int(probability)) >> 8
    if value {
      low += split
      range -= split
    } else {
      range = split
    }
    let shift = UInt8(range).leadingZeroBitCount
    range <<= shift
    low <<= shift
    pending += shift
    if pending >= 8 {
      pending -= 8
      emit()
    }
  }

  mutating func write(_ value: Bool) { write(value, 128) }

  mutating func literal(_ value: Int, _ count: Int) {
    for shift in (0..<count).reversed() { write(value >> shift & 1 == 1) }
  }

  /// Hands on what stands above the eight and `pending` bits.
  private mutating func emit() {
    let out = low >> (8 + pending)
    low &= (1 << (8 + pending)) - 1
    if out > 255 { carry() }
    bytes.append(UInt8(truncatingIfNeeded: out))
  }

  private mutating func carry() {
    var index = bytes.count - 1
    while index >= 0, bytes[index] == 255 {
      bytes[index] = 0
      index -= 1
    }
    if index >= 0 { bytes[index] += 1 }
  }

  /// Everything that was written; a decoder goes on with zeros behind it.
  consuming func finish() -> [UInt8] {
    low <<= 8 - pending
    pending = 0
    emit()
    low <<= 8
    emit()
    return bytes
  }
}
