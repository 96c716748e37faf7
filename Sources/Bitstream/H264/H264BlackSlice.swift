/// An IDR slice that is black, of the stream's own parameter sets: the first macroblock holds its samples as they are
/// (`I_PCM`), and each of the others is predicted from its neighbours without a residual (`I_16x16`, DC).
struct H264BlackSlice {
  var sequence: H264SequenceParameters
  var picture: H264PictureParameters
  /// `idr_pic_id`, another one than that of an IDR picture beside it.
  var idrID: Int

  private static let reference: UInt8 = 3 << 5
  /// Table 7-11, in I slices.
  private static let storedType = 25
  private static let predictedType = 3

  /// Whether its samples can be written: those that WebRTC's encoders make.
  var isSupported: Bool { sequence.samples.chromaFormat <= 1 && sequence.samples.areEightBit }

  var nal: [UInt8] {
    var writer = BitWriter()
    writeHeader(&writer)
    writer = picture.isCABAC ? arithmeticCode(writer) : variableLengthCode(writer)
    writer.align(with: false)
    return H264Payload.write(writer.bytes, header: Self.reference | H264NALType.idrSlice.rawValue)
  }

  /// ITU-T H.264, 7.3.3.
  private func writeHeader(_ writer: inout BitWriter) {
    let allSlicesAreI = 7
    writer.unsigned(0)
    writer.unsigned(allSlicesAreI)
    writer.unsigned(picture.id)
    writer.bits(0, sequence.frameNumberBits)
    writer.unsigned(idrID)
    if let orderBits = sequence.orderBits {
      writer.bits(0, orderBits)
      if picture.hasBottomOrder { writer.signed(0) }
    }
    if picture.hasRedundantPictures { writer.unsigned(0) }
    // Pictures before it are shown, and it is a short-term reference.
    writer.bits(0, 2)
    // The quantizer, of which there is no use.
    writer.signed(0)
    if picture.hasFilterControl { writer.unsigned(1) }
  }

  private func writeSamples(_ writer: inout BitWriter) {
    writer.align(with: false)
    for _ in 0..<256 { writer.bits(sequence.isFullRange ? 0 : 16, 8) }
    guard sequence.hasChroma else { return }
    for _ in 0..<128 { writer.bits(128, 8) }
  }

  // MARK: CAVLC

  private func variableLengthCode(_ start: BitWriter) -> BitWriter {
    var writer = start
    writer.unsigned(Self.storedType)
    writeSamples(&writer)
    for macroblock in 1..<max(sequence.macroblocks, 1) {
      writer.unsigned(Self.predictedType)
      // DC prediction of chroma, and the quantizer stays.
      if sequence.hasChroma { writer.unsigned(0) }
      writer.signed(0)
      // No coefficients; beside one that is stored, which counts as full of them, the code is another (table 9-5).
      if isBesideFirst(macroblock) { writer.bits(0b000011, 6) } else { writer.bit(true) }
    }
    writer.bit(true)
    return writer
  }

  private func isBesideFirst(_ macroblock: Int) -> Bool {
    macroblock == sequence.columns || macroblock == 1
  }

  // MARK: CABAC

  private func arithmeticCode(_ start: BitWriter) -> BitWriter {
    var writer = start
    writer.align(with: true)
    var contexts = Contexts(quantizer: picture.quantizer)
    var encoder = CABACEncoder(writer)
    encoder.encode(true, &contexts.isNotSmall[0])
    encoder.terminate(true)
    writer = encoder.writer
    writeSamples(&writer)
    // The code begins anew behind the samples (9.3.1.2); its contexts stay.
    encoder = CABACEncoder(writer)
    for macroblock in 1..<max(sequence.macroblocks, 1) {
      encoder.terminate(false)
      write(macroblock, &encoder, &contexts)
    }
    encoder.terminate(true)
    return encoder.writer
  }

  private func write(_ macroblock: Int, _ encoder: inout CABACEncoder, _ contexts: inout Contexts) {
    let (hasLeft, hasAbove) = (macroblock % sequence.columns > 0, macroblock >= sequence.columns)
    // `mb_type` 3 is 1 0 0 0 1 0 (table 9-36), of which the second bin is coded as an end that is none.
    encoder.encode(true, &contexts.isNotSmall[(hasLeft ? 1 : 0) + (hasAbove ? 1 : 0)])
    encoder.terminate(false)
    encoder.encode(false, &contexts.hasLuma)
    encoder.encode(false, &contexts.hasChroma)
    encoder.encode(true, &contexts.predictionHigh)
    encoder.encode(false, &contexts.predictionLow)
    if sequence.hasChroma { encoder.encode(false, &contexts.chromaPrediction) }
    encoder.encode(false, &contexts.quantizerChange)
    // A neighbour that is outside or stored counts as one with coefficients (9.3.3.1.1.9).
    let left = !hasLeft || macroblock == 1
    let above = !hasAbove || macroblock == sequence.columns
    encoder.encode(false, &contexts.hasCoefficients[(left ? 1 : 0) + (above ? 2 : 0)])
  }

  /// In I slices (tables 9-12, 9-13, 9-17 and 9-18), by their `ctxIdx`.
  private struct Contexts {
    /// 3 to 5
    var isNotSmall: [CABACEncoder.Context]
    /// 6, 7, 9 and 10
    var hasLuma, hasChroma, predictionHigh, predictionLow: CABACEncoder.Context
    /// 60
    var quantizerChange: CABACEncoder.Context
    /// 64
    var chromaPrediction: CABACEncoder.Context
    /// 85 to 88
    var hasCoefficients: [CABACEncoder.Context]

    init(quantizer: Int) {
      func context(_ m: Int, _ n: Int) -> CABACEncoder.Context { .init(m: m, n: n, quantizer: quantizer) }
      isNotSmall = [context(20, -15), context(2, 54), context(3, 74)]
      hasLuma = context(-28, 127)
      hasChroma = context(-23, 104)
      predictionHigh = context(-1, 54)
      predictionLow = context(7, 51)
      quantizerChange = context(0, 41)
      chromaPrediction = context(-9, 83)
      hasCoefficients = [context(-17, 123), context(-12, 115), context(-16, 122), context(-11, 115)]
    }
  }
}
