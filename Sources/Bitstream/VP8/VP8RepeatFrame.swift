/// A VP8 inter frame that repeats one reference: each macroblock has motion vector zero and no coefficients, the loop
/// filter is off, and nothing is kept of it.
struct VP8RepeatFrame {
  struct Shape: Sendable {
    var width: Int
    var height: Int
    var version: UInt8 = 0
    /// As in the frame before, because decoders carry the map of segments on from frame to frame.
    var isSegmented = false

    /// Of macroblocks.
    var columns: Int { (width + 15) / 16 }
    var rows: Int { (height + 15) / 16 }

    /// Up to H.264's largest frame; a header that says more is damaged, or not worth the time.
    var isSupported: Bool { columns * rows <= 139_264 }
  }

  var shape: Shape
  var reference: VP8Stream.Reference

  var bytes: [UInt8] {
    var encoder = BoolEncoder()
    writeHeader(&encoder)
    for row in 0..<shape.rows {
      for column in 0..<shape.columns { writeMacroblock(&encoder, column: column, row: row) }
    }
    let modes = encoder.finish()
    let tag = VP8FrameHeader.tag(isKeyframe: false, version: shape.version, firstPartition: modes.count)
    let tokens = BoolEncoder().finish()
    return tag + modes + tokens
  }

  /// RFC 6386, 19.2.
  private func writeHeader(_ encoder: inout BoolEncoder) {
    encoder.write(shape.isSegmented)
    // Neither the map of segments nor their values change.
    if shape.isSegmented { encoder.literal(0, 2) }
    // Loop filter type, level and sharpness, its adjustments; one partition of tokens.
    encoder.literal(0, 1 + 6 + 3 + 1 + 2)
    // Quantizers, which nothing uses.
    encoder.literal(0, 7 + 5)
    // No refresh of and no copy to golden and alternate, their sign biases; probabilities and last stay as they are.
    encoder.literal(0, 2 + 2 + 2 + 2 + 1 + 1)
    encoder.keepCoefficientProbabilities()
    // Macroblocks may be skipped: nearly all are, nearly none is intra, nearly all have this reference.
    encoder.write(true)
    encoder.literal(Int(Self.rare), 8)
    encoder.literal(Int(Self.rare), 8)
    encoder.literal(Int(lastProbability), 8)
    encoder.literal(Int(goldenProbability), 8)
    // The probabilities of intra modes stay.
    encoder.literal(0, 2)
    for probability in VP8Probabilities.motionVectorUpdates { encoder.write(false, probability) }
  }

  private static let rare: UInt8 = 1
  private static let usual: UInt8 = 255
  private var lastProbability: UInt8 { reference == .last ? Self.usual : Self.rare }
  private var goldenProbability: UInt8 { reference == .golden ? Self.usual : Self.rare }

  private func writeMacroblock(_ encoder: inout BoolEncoder, column: Int, row: Int) {
    encoder.write(true, Self.rare)
    encoder.write(true, Self.rare)
    encoder.write(reference != .last, lastProbability)
    if reference != .last { encoder.write(reference == .altRef, goldenProbability) }
    // The neighbours' vectors are zero too; what lies outside of the frame does not count (RFC 6386, 18.3).
    let context = (row > 0 ? 1 : 0) + (column > 0 ? 1 : 0)
    encoder.write(false, VP8Probabilities.zeroVector[context])
  }
}

extension BoolEncoder {
  /// No probability of a token is updated (RFC 6386, 13.4).
  mutating func keepCoefficientProbabilities() {
    for row in VP8Probabilities.coefficientUpdates {
      for index in 0..<11 { write(false, index < row.count ? row[index] : 255) }
    }
  }
}
