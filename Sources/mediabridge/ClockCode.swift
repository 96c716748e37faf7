import MediaBridge

/// The code that `Tests/EndToEnd/publish_clock.py` burns into its frames: when a frame was taken, and which one it is.
///
/// Two rows of forty black or white blocks at the top, whose size goes with the width: 48 bits microseconds of
/// CLOCK_MONOTONIC, 16 bits number, 16 bits check, each the lowest bit first.
struct ClockCode {
  var microseconds: UInt64
  var number: UInt16

  /// Nil when the frame bears no code, or one that has suffered too much.
  init?(_ frame: VideoFrame) {
    let read = frame.buffer.withPlanes { planes in
      planes[0].flatMap { Luma(bytes: $0.bytes, stride: $0.stride, width: $0.width, height: $0.height).read() }
    }
    guard let value = read ?? nil, Self.check(value.code) == value.check else { return nil }
    microseconds = value.code & 0xffff_ffff_ffff
    number = UInt16(value.code >> 48)
  }

  init(microseconds: UInt64, number: UInt16) { (self.microseconds, self.number) = (microseconds, number) }

  /// Writes it into the luma at the beginning of an I420 frame, whose width is a multiple of forty.
  func burn(into frame: inout [UInt8], width: Int) {
    let code = microseconds & 0xffff_ffff_ffff | UInt64(number) << 48
    let (check, side) = (UInt64(Self.check(code)), width / Luma.columns)
    for bit in 0..<Luma.bits {
      let isWhite = (bit < 64 ? code >> UInt64(bit) : check >> UInt64(bit - 64)) & 1 == 1
      let begin = bit / Luma.columns * side * width + bit % Luma.columns * side
      for row in stride(from: begin, to: begin + side * width, by: width) {
        for place in row..<row + side { frame[place] = isWhite ? Luma.white : Luma.black }
      }
    }
  }

  /// Inverted, so that a black frame is not a code.
  private static func check(_ code: UInt64) -> UInt16 {
    ~(UInt16(truncatingIfNeeded: code) ^ UInt16(truncatingIfNeeded: code >> 16)
      ^ UInt16(truncatingIfNeeded: code >> 32) ^ UInt16(truncatingIfNeeded: code >> 48))
  }
}

/// The luma plane of a frame, where the blocks are.
private struct Luma {
  let bytes: UnsafeRawBufferPointer
  let stride: Int
  let width: Int
  let height: Int

  static let (columns, bits) = (40, 80)
  static let (black, white): (UInt8, UInt8) = (16, 235)
  /// Between black and white.
  private static let threshold = 125

  func read() -> (code: UInt64, check: UInt16)? {
    let side = width / Self.columns
    guard side >= 4, height >= 2 * side else { return nil }
    var code: UInt64 = 0
    var check: UInt16 = 0
    for bit in 0..<Self.bits where isWhite(x: bit % Self.columns * side, y: bit / Self.columns * side, side: side) {
      if bit < 64 { code |= 1 << UInt64(bit) } else { check |= 1 << UInt16(bit - 64) }
    }
    return (code, check)
  }

  /// Looks at the middle of a block, because a codec blurs its edges.
  private func isWhite(x: Int, y: Int, side: Int) -> Bool {
    let margin = side / 4
    var sum = 0
    for row in (y + margin)..<(y + side - margin) {
      for column in (x + margin)..<(x + side - margin) { sum += Int(bytes[row * stride + column]) }
    }
    return sum > Self.threshold * (side - 2 * margin) * (side - 2 * margin)
  }
}
