/// Writes bits from the highest down, and the Exp-Golomb codes of H.264 (9.1).
struct BitWriter {
  private(set) var bytes: [UInt8] = []
  /// Unused bits of the last byte.
  private var free = 0

  var isAligned: Bool { free == 0 }

  mutating func bit(_ value: Bool) {
    if free == 0 {
      bytes.append(0)
      free = 8
    }
    free -= 1
    if value { bytes[bytes.count - 1] |= 1 << UInt8(free) }
  }

  mutating func bits(_ value: Int, _ count: Int) {
    for shift in (0..<count).reversed() { bit(value >> shift & 1 == 1) }
  }

  mutating func unsigned(_ value: Int) {
    let code = value + 1
    let length = Int.bitWidth - code.leadingZeroBitCount
    bits(0, length - 1)
    bits(code, length)
  }

  mutating func signed(_ value: Int) { unsigned(value > 0 ? value * 2 - 1 : -value * 2) }

  /// Fills the last byte.
  mutating func align(with value: Bool) {
    while !isAligned { bit(value) }
  }
}
