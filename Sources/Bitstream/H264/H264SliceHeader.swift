/// What a picture's first slice says about its place in the stream (ITU-T H.264, 7.3.3).
struct H264SliceHeader: Sendable {
  /// What becomes of the picture once it is decoded.
  enum Marking: Sendable, Equatable {
    case none
    /// The newest short-term reference, which a P slice finds first.
    case shortTerm
    /// A long-term reference alone, behind an IDR picture.
    case onlyLongTerm
    /// A long-term reference beside others, or one that resets the numbers.
    case irregular
  }

  var pictureID: Int
  var frameNumber: Int
  /// The lowest bits of the picture's order; 0 where it follows from the frame number.
  var order = 0
  var marking = Marking.none
  /// `idr_pic_id`, by which an IDR picture differs from one right before it; nil of another picture.
  var idrID: Int?

  /// - Parameter sets: the parameter sets of a picture parameter set's id.
  init(
    _ nal: UnsafeRawBufferPointer,
    sets: (Int) throws(UnreadableStream) -> (H264SequenceParameters, H264PictureParameters)
  ) throws(UnreadableStream) {
    guard let first = nal.first else { throw UnreadableStream() }
    // Far more than a header without weights takes.
    var reader = BitReader(H264Payload.read(nal, limit: 256))
    let isIDR = H264NALType(firstByte: first) == .idrSlice
    guard try reader.unsigned() == 0 else { throw UnreadableStream() }
    let type = try Self.readType(&reader)
    pictureID = try reader.unsigned(upTo: 255)
    let (sequence, picture) = try sets(pictureID)
    frameNumber = try reader.bits(sequence.frameNumberBits)
    if isIDR { idrID = try reader.unsigned() }
    if let orderBits = sequence.orderBits {
      order = try reader.bits(orderBits)
      if picture.hasBottomOrder { _ = try reader.signed() }
    }
    if picture.hasRedundantPictures { _ = try reader.unsigned() }
    guard first >> 5 & 3 != 0 else { return }
    if type == .p { try Self.skipReferences(&reader, sequence, picture) }
    marking = isIDR ? try Self.readIDRMarking(&reader) : try Self.readMarking(&reader)
  }

  private enum SliceType: Equatable {
    case p
    case i
  }

  /// B slices come with an order of their own, and switching slices with other rules: neither is followed.
  private static func readType(_ reader: inout BitReader) throws(UnreadableStream) -> SliceType {
    switch try reader.unsigned(upTo: 9) % 5 {
    case 0: return .p
    case 2: return .i
    default: throw UnreadableStream()
    }
  }

  private static func skipReferences(
    _ reader: inout BitReader, _ sequence: H264SequenceParameters, _ picture: H264PictureParameters
  ) throws(UnreadableStream) {
    var count = picture.references
    if try reader.bit() { count = try reader.unsigned(upTo: 31) + 1 }
    if try reader.bit() {
      while try reader.unsigned(upTo: 3) != 3 { _ = try reader.unsigned() }
    }
    if picture.isWeighted { try skipWeights(&reader, count: count, hasChroma: sequence.hasChroma) }
  }

  private static func skipWeights(
    _ reader: inout BitReader, count: Int, hasChroma: Bool
  ) throws(UnreadableStream) {
    for _ in 0..<(hasChroma ? 2 : 1) { _ = try reader.unsigned() }
    for _ in 0..<count {
      if try reader.bit() {
        for _ in 0..<2 { _ = try reader.signed() }
      }
      if hasChroma, try reader.bit() {
        for _ in 0..<4 { _ = try reader.signed() }
      }
    }
  }

  private static func readIDRMarking(_ reader: inout BitReader) throws(UnreadableStream) -> Marking {
    reader.skip(1)
    return try reader.bit() ? .onlyLongTerm : .shortTerm
  }

  private static func readMarking(_ reader: inout BitReader) throws(UnreadableStream) -> Marking {
    guard try reader.bit() else { return .shortTerm }
    var marking = Marking.shortTerm
    while true {
      switch try reader.unsigned(upTo: 6) {
      case 0: return marking
      case 3: for _ in 0..<2 { _ = try reader.unsigned() }
      case 5: marking = .irregular
      case 6:
        marking = .irregular
        _ = try reader.unsigned()
      default: _ = try reader.unsigned()
      }
    }
  }
}
