/// What of a sequence parameter set decides how a slice is written (ITU-T H.264, 7.3.2.1.1). Interlaced pictures, colour
/// planes coded apart and picture order of type 1 are not supported.
struct H264SequenceParameters: Sendable, Equatable {
  var id: Int
  var frameNumberBits: Int
  /// Nil for picture order of type 2, which follows from the frame number.
  var orderBits: Int?
  /// Of macroblocks.
  var columns: Int
  var rows: Int
  var samples = Samples()
  /// Whether black is 0 and not 16.
  var isFullRange: Bool { usability.isFullRange }
  /// How many frames may be sent ahead of one that is shown before them; nil where that is not said.
  var reorderedFrames: Int?
  private var usability: H264Usability

  /// How pixels are coded; of the profiles for cameras unless it is said.
  struct Samples: Sendable, Equatable {
    /// `chroma_format_idc`: 0 for none, 1 for a quarter of the luma samples.
    var chromaFormat = 1
    var areEightBit = true
  }

  var macroblocks: Int { columns * rows }
  var hasChroma: Bool { samples.chromaFormat != 0 }

  private static let highProfiles: Set<Int> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]
  /// The largest frame of the highest level.
  private static let largestFrame = 139_264

  init(_ payload: [UInt8]) throws(UnreadableStream) {
    var reader = BitReader(payload)
    let profile = try reader.bits(8)
    reader.skip(16)
    id = try reader.unsigned(upTo: 31)
    if Self.highProfiles.contains(profile) { samples = try Self.readSamples(&reader) }
    frameNumberBits = try reader.unsigned(upTo: 12) + 4
    switch try reader.unsigned() {
    case 0: orderBits = try reader.unsigned(upTo: 12) + 4
    case 2: orderBits = nil
    default: throw UnreadableStream()
    }
    // Without references there is nothing to repeat.
    guard try reader.unsigned() > 0 else { throw UnreadableStream() }
    reader.skip(1)
    columns = try reader.unsigned(upTo: Self.largestFrame - 1) + 1
    rows = try reader.unsigned(upTo: Self.largestFrame - 1) + 1
    let isProgressive = try reader.bit()
    guard isProgressive, columns * rows <= Self.largestFrame else { throw UnreadableStream() }
    usability = H264Usability(behindFrame: &reader)
    // Baseline has no B-frames, and order of type 2 is that of sending (8.2.1.3).
    reorderedFrames = profile == Self.baselineProfile || orderBits == nil ? 0 : usability.reorderedFrames
  }

  private static let baselineProfile = 66

  private static func readSamples(_ reader: inout BitReader) throws(UnreadableStream) -> Samples {
    let format = try reader.unsigned(upTo: 3)
    if format == 3, try reader.bit() { throw UnreadableStream() }
    var areEightBit = true
    for _ in 0..<2 where try reader.unsigned() != 0 { areEightBit = false }
    reader.skip(1)
    if try reader.bit() {
      for list in 0..<(format == 3 ? 12 : 8) where try reader.bit() {
        try skipScalingList(&reader, count: list < 6 ? 16 : 64)
      }
    }
    return Samples(chromaFormat: format, areEightBit: areEightBit)
  }

  /// ITU-T H.264, 7.3.2.1.1.1.
  private static func skipScalingList(_ reader: inout BitReader, count: Int) throws(UnreadableStream) {
    var last = 8
    for _ in 0..<count {
      let next = (last + (try reader.signed())) & 255
      if next == 0 { return }
      last = next
    }
  }
}

/// What of a picture parameter set decides how a slice is written (ITU-T H.264, 7.3.2.2). Groups of slices are not
/// supported.
struct H264PictureParameters: Sendable, Equatable {
  var id: Int
  var sequenceID: Int
  var isCABAC: Bool
  var hasBottomOrder: Bool
  var references: Int
  var isWeighted: Bool
  var quantizer: Int
  var hasFilterControl: Bool
  var hasRedundantPictures: Bool

  init(_ payload: [UInt8]) throws(UnreadableStream) {
    var reader = BitReader(payload)
    id = try reader.unsigned(upTo: 255)
    sequenceID = try reader.unsigned(upTo: 31)
    isCABAC = try reader.bit()
    hasBottomOrder = try reader.bit()
    guard try reader.unsigned() == 0 else { throw UnreadableStream() }
    references = try reader.unsigned(upTo: 31) + 1
    _ = try reader.unsigned(upTo: 31)
    isWeighted = try reader.bit()
    reader.skip(2)
    quantizer = try reader.signed() + 26
    guard (-100...51).contains(quantizer) else { throw UnreadableStream() }
    // Quantizers of switching slices and of chroma.
    for _ in 0..<2 { _ = try reader.signed() }
    hasFilterControl = try reader.bit()
    reader.skip(1)
    hasRedundantPictures = try reader.bit()
  }
}
