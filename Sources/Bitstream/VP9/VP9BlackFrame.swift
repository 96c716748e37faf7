/// A VP9 keyframe that is black, of profile 0. Without neighbours 128 is predicted, so the first block of 8x8 codes what is
/// missing to black, and all others, as large as they can be, are predicted from their neighbours without a residual.
/// That is some hundred bytes, without an encoder that would have to be set up for each size.
struct VP9BlackFrame {
  var format: VP9FrameHeader.Format

  /// One tile up to here; what is wider has to be cut into several.
  private static let widestTile = 4096
  private static let largestFrame = 139_264 * 256
  /// The finest quantizer that is not lossless, at which a DC coefficient counts 8, and 64 are one of luma.
  private static let quantizer = 1

  var isSupported: Bool {
    format.width <= Self.widestTile && format.width * format.height <= Self.largestFrame && format.profile == 0
      && format.colorSpace != VP9FrameHeader.rgb
  }

  var bytes: [UInt8] {
    var writer = BitWriter()
    let head = compressedHeader
    writeHeader(&writer)
    writer.bits(head.count, 16)
    var blocks = VP9BlackBlocks(
      rows: (format.height + 7) / 8, columns: (format.width + 7) / 8,
      coefficient: (128 - (format.isFullRange ? 0 : 16)) * 64 / 8)
    // No byte that could be taken for the index of a super-frame may be the last (annex B).
    return writer.bytes + head + blocks.bytes + [0]
  }

  /// VP9 bitstream specification, 6.2.
  private func writeHeader(_ writer: inout BitWriter) {
    writer.bits(0b10, 2)
    // Profile 0; a new frame, a keyframe, shown, and resilient: nothing of it is carried on.
    writer.bits(0b00_0_0_1_1, 6)
    writer.bits(VP9FrameHeader.syncCode, 24)
    writer.bits(format.colorSpace, 3)
    writer.bit(format.isFullRange)
    writer.bits(format.width - 1, 16)
    writer.bits(format.height - 1, 16)
    // Shown at its own size; the first set of probabilities.
    writer.bits(0, 1 + 2)
    // No loop filter, none of its adjustments.
    writer.bits(0, 6 + 3 + 1)
    writer.bits(Self.quantizer, 8)
    // No other quantizers, no segments.
    writer.bits(0, 3 + 1)
    // A tile: there would be a bit for each time that the width could be halved (6.2.6).
    if (format.width + 63) / 64 >= 8 { writer.bit(false) }
    writer.bit(false)
  }

  /// Transforms as large as the blocks, and no probability is updated (6.3).
  private var compressedHeader: [UInt8] {
    var encoder = BoolEncoder()
    // The marker, and 32x32 without a choice; then four sizes of transforms.
    encoder.literal(0, 1)
    encoder.literal(3, 2)
    encoder.literal(0, 1 + 4)
    for _ in 0..<3 { encoder.write(false, 252) }
    return encoder.finish()
  }
}

/// The blocks of a black frame's only tile, in units of 8x8 pixels.
private struct VP9BlackBlocks {
  var rows: Int
  var columns: Int
  /// What the first block's DC coefficient is below zero.
  var coefficient: Int
  private var encoder = BoolEncoder()
  /// How small the blocks above and at the left are, a bit for each halving of 64 (6.4.3).
  private var above: [Int]
  private var left = [Int](repeating: 0, count: 8)

  private enum Partition {
    case none
    case horizontal
    case vertical
    case split
  }

  init(rows: Int, columns: Int, coefficient: Int) {
    self.rows = rows
    self.columns = columns
    self.coefficient = coefficient
    above = [Int](repeating: 0, count: (columns + 7) / 8 * 8)
  }

  var bytes: [UInt8] {
    mutating get {
      encoder.literal(0, 1)
      for row in stride(from: 0, to: rows, by: 8) {
        left = [Int](repeating: 0, count: 8)
        for column in stride(from: 0, to: columns, by: 8) { write(row: row, column: column, level: 3) }
      }
      return encoder.finish()
    }
  }

  /// A square of 8 << `level` pixels.
  private mutating func write(row: Int, column: Int, level: Int) {
    guard row < rows, column < columns else { return }
    let half = (1 << level) / 2
    let (hasBelow, hasRight) = (row + half < rows, column + half < columns)
    let isFirst = row == 0 && column == 0
    let partition: Partition =
      isFirst
      ? (level == 0 ? .none : .split)
      : hasBelow ? (hasRight ? .none : .vertical) : (hasRight ? .horizontal : .split)
    writePartition(partition, probabilities(row, column, level), hasBelow: hasBelow, hasRight: hasRight)
    guard partition == .split else {
      note(partition, row, column, level)
      return writeBlock(row: row, column: column)
    }
    for (down, right) in [(0, 0), (0, half), (half, 0), (half, half)] {
      write(row: row + down, column: column + right, level: level - 1)
    }
  }

  private func probabilities(_ row: Int, _ column: Int, _ level: Int) -> [UInt8] {
    let mask = 1 << (3 - level)
    let context = (above[column] & mask != 0 ? 1 : 0) + (left[row & 7] & mask != 0 ? 2 : 0)
    return VP9Probabilities.partitions[level * 4 + context]
  }

  /// Of what lies partly outside only that is said which is not clear (6.4.3).
  private mutating func writePartition(
    _ partition: Partition, _ probabilities: [UInt8], hasBelow: Bool, hasRight: Bool
  ) {
    switch (hasBelow, hasRight) {
    case (true, true):
      encoder.write(partition != .none, probabilities[0])
      guard partition == .split else { return }
      encoder.write(true, probabilities[1])
      encoder.write(true, probabilities[2])
    case (false, true): encoder.write(partition == .split, probabilities[1])
    case (true, false): encoder.write(partition == .split, probabilities[2])
    case (false, false): break
    }
  }

  private mutating func note(_ partition: Partition, _ row: Int, _ column: Int, _ level: Int) {
    let whole = 15 >> (level + 1)
    let halved = 15 >> level
    for index in 0..<(1 << level) {
      above[column + index] = partition == .vertical ? halved : whole
      left[(row + index) & 7] = partition == .horizontal ? halved : whole
    }
  }

  /// Whether there is a residual, and DC prediction of luma and chroma (6.4.6).
  private mutating func writeBlock(row: Int, column: Int) {
    let isFirst = row == 0 && column == 0
    let skippedAround = [(row - 1, column), (row, column - 1)].count { $0.0 >= 0 && $0.1 >= 0 && $0 != (0, 0) }
    encoder.write(!isFirst, [192, 128, 64][skippedAround])
    encoder.write(false, 137)
    encoder.write(false, 144)
    if isFirst { writeCoefficient() }
  }

  /// One coefficient of luma, of the largest category (6.4.24), and none of chroma.
  private mutating func writeCoefficient() {
    for probability: UInt8 in [125, 34, 187, 243, 251, 255, 254] { encoder.write(true, probability) }
    let extra = coefficient - 67
    for (index, probability) in VP9Probabilities.largestCategory.enumerated() {
      encoder.write(extra >> (13 - index) & 1 == 1, probability)
    }
    encoder.write(true)
    encoder.write(false, 1)
    for _ in 0..<2 { encoder.write(false, 214) }
  }
}

/// Constants of the format, as a keyframe begins (VP9 bitstream specification, 10.3 to 10.5).
private enum VP9Probabilities {
  /// How a square is cut: of 8x8, 16x16, 32x32 and 64x64, each by whether its neighbours above and left are smaller.
  static let partitions: [[UInt8]] = [
    [158, 97, 94], [93, 24, 99], [85, 119, 44], [62, 59, 67],
    [149, 53, 53], [94, 20, 48], [83, 53, 24], [52, 18, 18],
    [150, 40, 39], [78, 12, 26], [67, 33, 11], [24, 7, 5],
    [174, 35, 49], [68, 11, 27], [57, 15, 9], [12, 3, 3],
  ]
  static let largestCategory: [UInt8] = [254, 254, 254, 252, 249, 243, 230, 196, 177, 153, 140, 133, 130, 129]
}
