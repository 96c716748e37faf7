/// A P slice of skipped macroblocks alone: each is a copy of the first reference at vector zero.
///
/// It is no reference itself, and so takes no frame number away from the picture that really comes next. Its order is
/// one above the last picture's, below or at the next one's, for all of a row of held pictures: they are the same, and
/// decoders leave pictures of the same order in the order of decoding.
struct H264HeldSlice {
  var sequence: H264SequenceParameters
  var picture: H264PictureParameters
  var last: H264SliceHeader

  var nal: [UInt8] {
    var writer = BitWriter()
    writeHeader(&writer)
    if picture.isCABAC {
      writer.align(with: true)
      var encoder = CABACSkipEncoder(writer)
      writer = encoder.encode(macroblocks: sequence.macroblocks)
    } else {
      // One run of skipped macroblocks, then the stop bit.
      writer.unsigned(sequence.macroblocks)
      writer.bit(true)
    }
    writer.align(with: false)
    return H264Payload.write(writer.bytes, header: H264NALType.slice)
  }

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
      writer.unsigned(CABACSkipEncoder.initialization)
      writer.signed(CABACSkipEncoder.quantizer - picture.quantizer)
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
