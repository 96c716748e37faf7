/// A VP8 keyframe that is black. Without neighbours 128 is predicted, so the first macroblock codes what is missing to
/// black, and each of the others is predicted from its neighbours without a residual: a bit or two each, without an
/// encoder that would have to be set up for each size.
struct VP8BlackFrame {
  var shape: VP8RepeatFrame.Shape

  /// At the finest quantizer, the first, each step of the second-order DC coefficient is 8, and 64 of them are one of
  /// luma (RFC 6386, 14.1, 14.3 and 14.4).
  private static let coefficient = (128 - 16) * 64 / 8
  private static let rare: UInt8 = 1

  var bytes: [UInt8] {
    let modes = modePartition
    let tag = VP8FrameHeader.tag(isKeyframe: true, version: shape.version, firstPartition: modes.count)
    let size = [shape.width, shape.height].flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    return tag + VP8FrameHeader.startCode + size + modes + tokens
  }

  /// RFC 6386, 19.2 and 19.3.
  private var modePartition: [UInt8] {
    var encoder = BoolEncoder()
    // Colour space and clamping, segments, the loop filter with its adjustments, one partition of tokens.
    encoder.literal(0, 1 + 1 + 1 + 1 + 6 + 3 + 1 + 2)
    // Quantizers.
    encoder.literal(0, 7 + 5)
    // Probabilities are not kept: the next keyframe begins anew in any case.
    encoder.write(false)
    encoder.keepCoefficientProbabilities()
    encoder.write(true)
    encoder.literal(Int(Self.rare), 8)
    for macroblock in 0..<(shape.columns * shape.rows) { writeModes(&encoder, isSkipped: macroblock > 0) }
    return encoder.finish()
  }

  /// DC prediction of luma and of chroma (RFC 6386, 11.2 and 11.3).
  private func writeModes(_ encoder: inout BoolEncoder, isSkipped: Bool) {
    encoder.write(isSkipped, Self.rare)
    encoder.write(true, 145)
    encoder.write(false, 156)
    encoder.write(false, 163)
    encoder.write(false, 142)
  }

  /// The first macroblock's (RFC 6386, 13.2 to 13.5): one coefficient, and 24 blocks without any.
  private var tokens: [UInt8] {
    var encoder = BoolEncoder()
    // To the sixth category, at the default probabilities of a second-order block's begin.
    for probability: UInt8 in [198, 35, 237, 223, 162, 145, 62] { encoder.write(true, probability) }
    let extra = Self.coefficient - 67
    for (index, probability) in [254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129].enumerated() {
      encoder.write(extra >> (10 - index) & 1 == 1, UInt8(probability))
    }
    encoder.write(true)
    // The block's end behind it, and those of luma's and chroma's blocks.
    encoder.write(false, 81)
    for _ in 0..<(16 + 8) { encoder.write(false, 253) }
    return encoder.finish()
  }
}
