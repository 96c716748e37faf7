/// What the uncompressed header of a VP9 frame says about the references, its size and its colours (VP9 bitstream
/// specification, 6.2).
public struct VP9FrameHeader {
  enum Kind {
    /// Shows what a slot holds.
    case existing(slot: Int)
    /// Is decoded and kept in the slots whose bits are set.
    case coded(refreshed: Int, isShown: Bool, Shape)
  }

  /// Where a frame's format comes from.
  enum Shape {
    case key(Format)
    case size(width: Int, height: Int)
    /// As what a slot holds.
    case slot(Int)
  }

  struct Format: Sendable {
    var width: Int
    var height: Int
    var profile: Int
    /// `color_space`
    var colorSpace: Int
    /// Whether black is 0 and not 16.
    var isFullRange: Bool
  }

  /// The `color_space` that has no luma.
  static let rgb = 7
  /// `frame_sync_code`
  static let syncCode = 0x498342

  var profile: Int
  var kind: Kind

  init(_ frame: UnsafeRawBufferPointer) throws(UnreadableStream) {
    // No more than this is looked at.
    var reader = BitReader(Array(frame.prefix(24)))
    guard try reader.bits(2) == 0b10 else { throw UnreadableStream() }
    let low = try reader.bits(1)
    profile = try reader.bits(1) << 1 | low
    if profile == 3, try reader.bit() { throw UnreadableStream() }
    if try reader.bit() {
      kind = .existing(slot: try reader.bits(3))
      return
    }
    let isInter = try reader.bit()
    let isShown = try reader.bit()
    let isErrorResilient = try reader.bit()
    kind =
      isInter
      ? try Self.inter(&reader, profile: profile, isShown: isShown, isErrorResilient: isErrorResilient)
      : .coded(refreshed: 0xff, isShown: isShown, .key(try Self.keyFormat(&reader, profile: profile)))
  }

  /// Whether a frame that begins with this byte needs no other.
  public static func isKeyframe(firstByte: UInt8) -> Bool {
    // frame_marker, the profile's two bits, one that is reserved in profile 3, show_existing_frame, frame_type.
    guard firstByte >> 6 == 0b10 else { return false }
    let unused = firstByte >> 4 & 3 == 3 ? 1 : 0
    return firstByte << unused & 0b1100 == 0
  }

  private static func keyFormat(_ reader: inout BitReader, profile: Int) throws(UnreadableStream) -> Format {
    try readSyncCode(&reader)
    let (colorSpace, isFullRange) = try readColor(&reader, profile: profile)
    let (width, height) = try readSize(&reader)
    return Format(
      width: width, height: height, profile: profile, colorSpace: colorSpace, isFullRange: isFullRange)
  }

  private static func inter(
    _ reader: inout BitReader, profile: Int, isShown: Bool, isErrorResilient: Bool
  ) throws(UnreadableStream) -> Kind {
    let isIntraOnly = isShown ? false : try reader.bit()
    // Which probabilities are reset.
    if !isErrorResilient { reader.skip(2) }
    if isIntraOnly {
      try readSyncCode(&reader)
      if profile > 0 { _ = try readColor(&reader, profile: profile) }
    }
    let refreshed = try reader.bits(8)
    let shape = isIntraOnly ? try explicitSize(&reader) : try referredSize(&reader)
    return .coded(refreshed: refreshed, isShown: isShown, shape)
  }

  private static func explicitSize(_ reader: inout BitReader) throws(UnreadableStream) -> Shape {
    let (width, height) = try readSize(&reader)
    return .size(width: width, height: height)
  }

  /// That of the first of three references of which it is said, else its own.
  private static func referredSize(_ reader: inout BitReader) throws(UnreadableStream) -> Shape {
    var slots: [Int] = []
    for _ in 0..<3 {
      slots.append(try reader.bits(3))
      reader.skip(1)
    }
    for slot in slots where try reader.bit() { return .slot(slot) }
    return try explicitSize(&reader)
  }

  private static func readSize(_ reader: inout BitReader) throws(UnreadableStream) -> (width: Int, height: Int) {
    let width = try reader.bits(16) + 1
    return (width, try reader.bits(16) + 1)
  }

  private static func readSyncCode(_ reader: inout BitReader) throws(UnreadableStream) {
    guard try reader.bits(24) == syncCode else { throw UnreadableStream() }
  }

  private static func readColor(
    _ reader: inout BitReader, profile: Int
  ) throws(UnreadableStream) -> (space: Int, isFullRange: Bool) {
    if profile >= 2 { reader.skip(1) }
    let space = try reader.bits(3)
    let hasSubsampling = profile & 1 == 1
    guard space != rgb else {
      if hasSubsampling { reader.skip(1) }
      return (space, true)
    }
    let isFullRange = try reader.bit()
    if hasSubsampling { reader.skip(2 + 1) }
    return (space, isFullRange)
  }
}

/// The frames of a VP9 super-frame (VP9 bitstream specification, annex B), or the one that a unit is.
enum VP9SuperFrame {
  static func frames(_ unit: UnsafeRawBufferPointer) throws(UnreadableStream) -> [UnsafeRawBufferPointer] {
    guard let marker = unit.last, marker & 0xe0 == 0xc0 else { return [unit] }
    let count = Int(marker & 7) + 1
    let width = Int(marker >> 3 & 3) + 1
    let indexStart = unit.count - (2 + count * width)
    guard indexStart >= 0, unit[indexStart] == marker else { return [unit] }
    var frames: [UnsafeRawBufferPointer] = []
    var start = 0
    for frame in 0..<count {
      let place = indexStart + 1 + frame * width
      let size = (0..<width).reduce(0) { $0 | Int(unit[place + $1]) << (8 * $1) }
      guard size <= indexStart - start else { throw UnreadableStream() }
      if size > 0 { frames.append(UnsafeRawBufferPointer(rebasing: unit[start..<(start + size)])) }
      start += size
    }
    return frames
  }
}
