/// What a sequence header says of how frame headers are written, and to those who store the stream (AV1 bitstream
/// specification, 5.5.1).
struct AV1SequenceHeader {
  /// Of two tools: never, always, or as each frame says.
  enum Choice: Int {
    case never, always, byFrame
  }

  private(set) var isReducedStill = false
  private(set) var screenContent = Choice.byFrame
  private(set) var integerVectors = Choice.byFrame
  private(set) var orderBits = 0
  /// Of the number that each frame has; 0 where it has none.
  private(set) var idBits = 0
  private(set) var profile = 0
  /// `seq_level_idx` and `seq_tier` of all layers.
  private(set) var level = 0
  private(set) var isHighTier = false
  /// Samples of 10 bits, and none of colour.
  private(set) var isHighBitDepth = false
  private(set) var isMonochrome = false

  init(_ payload: UnsafeRawBufferPointer) throws(UnreadableStream) {
    var reader = BitReader(Array(payload.prefix(64)))
    profile = try reader.bits(3)
    // still_picture
    reader.skip(1)
    isReducedStill = try reader.bit()
    guard !isReducedStill else { return }
    // What has a timing model has times in its frame headers, which nobody sends live.
    guard try !reader.bit() else { throw UnreadableStream() }
    try readOperatingPoints(&reader)
    let (width, height) = (try reader.bits(4) + 1, try reader.bits(4) + 1)
    reader.skip(width + height)
    // delta_frame_id_length_minus_2 and additional_frame_id_length_minus_1
    if try reader.bit() { idBits = try reader.bits(4) + reader.bits(3) + 3 }
    // Superblocks, filters, edges, and four tools of prediction.
    reader.skip(7)
    let hasOrder = try reader.bit()
    if hasOrder { reader.skip(2) }
    screenContent = try Self.choice(&reader)
    if screenContent != .never { integerVectors = try Self.choice(&reader) }
    if hasOrder { orderBits = try reader.bits(3) + 1 }
    // Three more tools.
    reader.skip(3)
    isHighBitDepth = try reader.bit()
    isMonochrome = profile == 0 ? try reader.bit() : false
  }

  /// The first one is of all layers.
  private mutating func readOperatingPoints(_ reader: inout BitReader) throws(UnreadableStream) {
    let hasDelay = try reader.bit()
    for index in 0...(try reader.bits(5)) {
      reader.skip(12)
      let level = try reader.bits(5)
      let isHighTier = level > 7 ? try reader.bit() : false
      if hasDelay, try reader.bit() { reader.skip(4) }
      if index == 0 { (self.level, self.isHighTier) = (level, isHighTier) }
    }
  }

  private static func choice(_ reader: inout BitReader) throws(UnreadableStream) -> Choice {
    if try reader.bit() { return .byFrame }
    return try reader.bit() ? .always : .never
  }
}

/// What the header of a frame says about the references (AV1 bitstream specification, 5.9.2).
enum AV1FrameHeader {
  /// `show_existing_frame`.
  case existing(slot: Int)
  /// `id` is 0 where frames have no numbers.
  case coded(refreshed: Int, isShown: Bool, isKey: Bool, id: Int)

  init(_ payload: UnsafeRawBufferPointer, _ sequence: AV1SequenceHeader) throws(UnreadableStream) {
    var reader = BitReader(Array(payload.prefix(16)))
    guard !sequence.isReducedStill else {
      self = .coded(refreshed: 0xff, isShown: true, isKey: true, id: 0)
      return
    }
    guard try !reader.bit() else {
      self = .existing(slot: try reader.bits(3))
      return
    }
    let (type, isShown) = (try reader.bits(2), try reader.bit())
    let (isKey, isIntra, isSwitch) = (type == 0, type == 0 || type == 2, type == 3)
    if !isShown { reader.skip(1) }
    let replacesAll = isSwitch || (isKey && isShown)
    let isResilient = replacesAll ? true : try reader.bit()
    // disable_cdf_update
    reader.skip(1)
    let hasScreenContent = sequence.screenContent == .byFrame ? try reader.bit() : sequence.screenContent == .always
    if hasScreenContent, sequence.integerVectors == .byFrame { reader.skip(1) }
    let id = try reader.bits(sequence.idBits)
    // frame_size_override_flag and order_hint, then primary_ref_frame.
    if !isSwitch { reader.skip(1) }
    reader.skip(sequence.orderBits)
    if !isIntra, !isResilient { reader.skip(3) }
    self = .coded(refreshed: replacesAll ? 0xff : try reader.bits(8), isShown: isShown, isKey: isKey, id: id)
  }
}
