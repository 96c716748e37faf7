/// A P slice of skipped macroblocks alone: each is a copy of the first reference at vector zero.
///
/// It is no reference itself, and so takes no frame number away from the picture that really comes next. Its order is
/// one above the last picture's, below or at the next one's, for all of a row of repeat frames: they are the same, and
/// decoders leave pictures of the same order in the order of decoding.
struct H264RepeatSlice {
  var sequence: H264SequenceParameters
  var picture: H264PictureParameters
  var last: H264SliceHeader

  var nal: [UInt8] {
    var writer = BitWriter()
    writeHeader(&writer)
    if picture.isCABAC {
      writer.align(with: true)
      writer = skipMacroblocks(writer)
    } else {
      // One run of skipped macroblocks, then the stop bit.
      writer.unsigned(sequence.macroblocks)
      writer.bit(true)
    }
    writer.align(with: false)
    return H264Payload.write(writer.bytes, header: H264NALType.slice.rawValue)
  }

  private func skipMacroblocks(_ writer: BitWriter) -> BitWriter {
    var encoder = CABACEncoder(writer)
    // `mb_skip_flag`: neighbours are skipped or outside, which makes the context the first one (table 9-13).
    var context = CABACEncoder.Context(m: 23, n: 33, quantizer: Self.quantizer)
    for macroblock in 1...sequence.macroblocks {
      encoder.encode(true, &context)
      encoder.terminate(macroblock == sequence.macroblocks)
    }
    return encoder.writer
  }

  /// `cabac_init_idc`, and the quantizer at which "skipped" begins as the more probable.
  private static let initialization = 0
  private static let quantizer = 51

  /// Frame numbers count references (ITU-T H.264, 7.4.3).
  private var frameNumber: Int {
    let next = last.frameNumber + (last.marking == .none ? 0 : 1)
    return next & ((1 << sequence.frameNumberBits) - 1)
  }

  /// ITU-T H.264, 7.3.3.
  private func writeHeader(_ writer: inout BitWriter) {
    let allSlicesAreP = 5
    writer.unsigned(0)
    writer.unsigned(allSlicesAreP)
    writer.unsigned(picture.id)
    writer.bits(frameNumber, sequence.frameNumberBits)
    if let orderBits = sequence.orderBits {
      writer.bits(last.order + 1, orderBits)
      if picture.hasBottomOrder { writer.signed(0) }
    }
    if picture.hasRedundantPictures { writer.unsigned(0) }
    writeReferences(&writer)
    if picture.isCABAC {
      writer.unsigned(Self.initialization)
      writer.signed(Self.quantizer - picture.quantizer)
    } else {
      writer.signed(0)
    }
    // Nothing would be filtered between such macroblocks; without the filter that is seen at once.
    if picture.hasFilterControl { writer.unsigned(1) }
  }

  private func writeReferences(_ writer: inout BitWriter) {
    // One reference, in the place where it is anyway.
    writer.bit(picture.references != 1)
    if picture.references != 1 { writer.unsigned(0) }
    writer.bit(false)
    guard picture.isWeighted else { return }
    // No weight of its own means as it is.
    for _ in 0..<(sequence.hasChroma ? 2 : 1) {
      writer.unsigned(0)
    }
    for _ in 0..<(sequence.hasChroma ? 2 : 1) {
      writer.bit(false)
    }
  }
}
