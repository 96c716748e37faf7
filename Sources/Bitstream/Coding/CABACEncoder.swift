/// H.264's binary arithmetic encoder (ITU-T H.264, 9.3.4).
struct CABACEncoder {
  /// What is known of the bins of one kind.
  struct Context {
    fileprivate var state: Int
    fileprivate var probable: Bool

    /// As a slice begins: with the constants `m` and `n` of tables 9-12 to 9-33, and the slice's quantizer (9.3.1.1).
    init(m: Int, n: Int, quantizer: Int) {
      let start = min(max((m * min(max(quantizer, 0), 51)) >> 4 + n, 1), 126)
      probable = start > 63
      state = probable ? start - 64 : 63 - start
    }
  }

  private(set) var writer: BitWriter
  private var range = 510
  private var low = 0
  private var isFirstBit = true
  private var outstanding = 0

  /// - Parameter writer: at the start of a byte.
  init(_ writer: BitWriter) { self.writer = writer }

  mutating func encode(_ bin: Bool, _ context: inout Context) {
    let leastProbable = Self.leastProbableRanges[context.state][range >> 6 & 3]
    range -= leastProbable
    if bin == context.probable {
      context.state = min(context.state + 1, 62)
    } else {
      low += range
      range = leastProbable
      if context.state == 0 { context.probable.toggle() }
      context.state = Self.stateAfterLeastProbable[context.state]
    }
    renormalize()
  }

  /// A bin that ends the code when it is set: `end_of_slice_flag`, or the second one of `I_PCM`. Behind an end the writer
  /// has everything up to and with a last bit of 1, which is the stop bit of a slice.
  mutating func terminate(_ isEnd: Bool) {
    range -= 2
    guard isEnd else { return renormalize() }
    low += range
    range = 2
    renormalize()
    put(low >> 9 & 1 == 1)
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

  /// `rangeTabLPS` (table 9-44).
  private static let leastProbableRanges: [[Int]] = [
    [128, 176, 208, 240], [128, 167, 197, 227], [128, 158, 187, 216], [123, 150, 178, 205], [116, 142, 169, 195],
    [111, 135, 160, 185], [105, 128, 152, 175], [100, 122, 144, 166], [95, 116, 137, 158], [90, 110, 130, 150],
    [85, 104, 123, 142], [81, 99, 117, 135], [77, 94, 111, 128], [73, 89, 105, 122], [69, 85, 100, 116],
    [66, 80, 95, 110], [62, 76, 90, 104], [59, 72, 86, 99], [56, 69, 81, 94], [53, 65, 77, 89], [51, 62, 73, 85],
    [48, 59, 69, 80], [46, 56, 66, 76], [43, 53, 63, 72], [41, 50, 59, 69], [39, 48, 56, 65], [37, 45, 54, 62],
    [35, 43, 51, 59], [33, 41, 48, 56], [32, 39, 46, 53], [30, 37, 43, 50], [29, 35, 41, 48], [27, 33, 39, 45],
    [26, 31, 37, 43], [24, 30, 35, 41], [23, 28, 33, 39], [22, 27, 32, 37], [21, 26, 30, 35], [20, 24, 29, 33],
    [19, 23, 27, 31], [18, 22, 26, 30], [17, 21, 25, 28], [16, 20, 23, 27], [15, 19, 22, 25], [14, 18, 21, 24],
    [14, 17, 20, 23], [13, 16, 19, 22], [12, 15, 18, 21], [12, 14, 17, 20], [11, 14, 16, 19], [11, 13, 15, 18],
    [10, 12, 15, 17], [10, 12, 14, 16], [9, 11, 13, 15], [9, 11, 12, 14], [8, 10, 12, 14], [8, 9, 11, 13],
    [7, 9, 11, 12], [7, 9, 10, 12], [7, 8, 10, 11], [6, 8, 9, 11], [6, 7, 9, 10], [6, 7, 8, 9], [2, 2, 2, 2],
  ]

  /// `transIdxLPS` (table 9-45).
  private static let stateAfterLeastProbable: [Int] = [
    0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 8, 9, 9, 11, 11, 12, 13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21, 21, 22, 22, 23, 24,
    24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37,
    37, 38, 38, 63,
  ]
}
