/// Numbers of AV1 in as many bytes as they need, seven bits in each, the lowest first (AV1 bitstream specification, 4.10.5).
public enum LEB128 {
  /// More than any unit is long that we take.
  private static let limit = 1 << 32

  /// - Returns: the number at `offset` and how many bytes it takes; nil where it is cut off, or larger than 32 bits.
  public static func read(
    _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) -> (value: Int, length: Int)? {
    var value = 0
    for index in 0..<8 {
      guard offset >= 0, offset + index < bytes.count else { return nil }
      let byte = Int(bytes[offset + index])
      value |= (byte & 0x7f) << (7 * index)
      if byte & 0x80 == 0 { return value < limit ? (value, index + 1) : nil }
    }
    return nil
  }

  /// How many bytes a number takes that is not negative.
  public static func length(of value: Int) -> Int { max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7) }

  /// Writes a number that is not negative, and `length(of:)` bytes long, at `offset`.
  /// - Returns: the place behind it.
  public static func write(_ value: Int, to bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    var (rest, offset) = (value, offset)
    while rest > 0x7f {
      bytes[offset] = UInt8(rest & 0x7f | 0x80)
      (rest, offset) = (rest >> 7, offset + 1)
    }
    bytes[offset] = UInt8(rest)
    return offset + 1
  }
}
