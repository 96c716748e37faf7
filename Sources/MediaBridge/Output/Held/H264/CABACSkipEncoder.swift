/// The slice data of skipped macroblocks in H.264's arithmetic code (ITU-T H.264, 9.3.4).
///
/// One context is used, and its most probable symbol always comes, so the interval's low end stays 0 until the end.
struct CABACSkipEncoder {
  /// `cabac_init_idc` and the slice's quantizer, from which the context starts at `firstState` with "skipped" as the
  /// more probable symbol: ((23 * 51) >> 4) + 33 = 106 = 64 + 42 (9.3.1.1, table 9-13).
  static let initialization = 0
  static let quantizer = 51
  private static let firstState = 42

  /// `rangeTabLPS` (table 9-44) from `firstState` to the last state that "more probable" leads to.
  private static let leastProbableRanges: [[Int]] = [
    [16, 20, 23, 27], [15, 19, 22, 25], [14, 18, 21, 24], [14, 17, 20, 23], [13, 16, 19, 22], [12, 15, 18, 21],
    [12, 14, 17, 20], [11, 14, 16, 19], [11, 13, 15, 18], [10, 12, 15, 17], [10, 12, 14, 16], [9, 11, 13, 15],
    [9, 11, 12, 14], [8, 10, 12, 14], [8, 9, 11, 13], [7, 9, 11, 12], [7, 9, 10, 12], [7, 8, 10, 11], [6, 8, 9, 11],
    [6, 7, 9, 10], [6, 7, 8, 9],
  ]

  private var writer: BitWriter
  private var range = 510
  private var low = 0
  private var isFirstBit = true
  private var outstanding = 0
  private var state = 0

  /// - Parameter writer: at the start of a byte, behind the slice's header.
  init(_ writer: BitWriter) { self.writer = writer }

  /// Everything up to and with the stop bit.
  mutating func encode(macroblocks: Int) -> BitWriter {
    for macroblock in 0..<macroblocks {
      skip()
      end(macroblock == macroblocks - 1)
    }
    return writer
  }

  /// `mb_skip_flag` of 1. Neighbours are skipped or outside, which makes the context the first one.
  private mutating func skip() {
    range -= Self.leastProbableRanges[state][range >> 6 & 3]
    state = min(state + 1, Self.leastProbableRanges.count - 1)
    renormalize()
  }

  /// `end_of_slice_flag`.
  private mutating func end(_ isEnd: Bool) {
    range -= 2
    guard isEnd else { return renormalize() }
    low += range
    range = 2
    renormalize()
    put(low >> 9 & 1 == 1)
    // The last bit is the stop bit of the slice.
    writer.bits(low >> 7 & 3 | 1, 2)
  }

  private mutating func renormalize() {
    while range < 256 {
      if low < 256 {
        put(false)
      } else if low >= 512 {
        low -= 512
        put(true)
      } else {
        low -= 256
        outstanding += 1
      }
      range <<= 1
      low <<= 1
    }
  }

  private mutating func put(_ value: Bool) {
    if isFirstBit { isFirstBit = false } else { writer.bit(value) }
    for _ in 0..<outstanding { writer.bit(!value) }
    outstanding = 0
  }
}
