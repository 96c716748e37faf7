/// What the head of a VP8 frame says about the references (RFC 6386, 9 and 19.2).
public struct VP8FrameHeader {
  enum Kind {
    case key(width: Int, height: Int)
    case inter(VP8ReferenceUpdate)
  }

  var version: UInt8
  var isShown: Bool
  /// Whether macroblocks belong to segments, which a frame may leave as the one before it has set them.
  var isSegmented: Bool
  var kind: Kind

  init(_ frame: UnsafeRawBufferPointer) throws(UnreadableStream) {
    guard frame.count > 3 else { throw UnreadableStream() }
    let tag = UInt32(frame[0]) | UInt32(frame[1]) << 8 | UInt32(frame[2]) << 16
    version = UInt8(tag >> 1 & 7)
    isShown = tag >> 4 & 1 == 1
    let isKey = Self.isKeyframe(firstByte: frame[0])
    let start = isKey ? 10 : 3
    let end = start + Int(tag >> 5)
    guard start < end, end <= frame.count else { throw UnreadableStream() }
    var decoder = BoolDecoder(UnsafeRawBufferPointer(rebasing: frame[start..<end]))
    if isKey { _ = decoder.literal(2) }
    isSegmented = decoder.flag()
    if isKey {
      guard let size = Self.keyframeSize(frame) else { throw UnreadableStream() }
      kind = .key(width: size.width, height: size.height)
    } else {
      if isSegmented { Self.skipSegmentation(&decoder) }
      Self.skipFilterAndQuantizers(&decoder)
      kind = .inter(VP8ReferenceUpdate(&decoder))
    }
    guard !decoder.isPastEnd else { throw UnreadableStream() }
  }

  /// Whether a frame that begins with this byte needs no other (RFC 6386, 9.1).
  public static func isKeyframe(firstByte: UInt8) -> Bool { firstByte & 1 == 0 }

  /// The pixels of a keyframe, of which no more than the first ten bytes have to be there; nil for another frame, and
  /// for what is none.
  static func keyframeSize(_ frame: UnsafeRawBufferPointer) -> (width: Int, height: Int)? {
    guard frame.count >= 10, isKeyframe(firstByte: frame[0]), frame[3..<6].elementsEqual(startCode) else { return nil }
    // The two highest bits ask for scaling behind the decoder.
    let width = Int(frame[6]) | Int(frame[7] & 0x3f) << 8
    let height = Int(frame[8]) | Int(frame[9] & 0x3f) << 8
    return width > 0 && height > 0 ? (width, height) : nil
  }

  static let startCode: [UInt8] = [0x9d, 0x01, 0x2a]

  /// The tag of a frame that is shown, before `firstPartition` bytes of its modes.
  static func tag(isKeyframe: Bool, version: UInt8, firstPartition: Int) -> [UInt8] {
    let isShown: UInt32 = 1 << 4
    let tag = (isKeyframe ? 0 : 1) | UInt32(version) << 1 | isShown | UInt32(firstPartition) << 5
    return (0..<3).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }
  }

  private static func skipSegmentation(_ decoder: inout BoolDecoder) {
    let updatesMap = decoder.flag()
    let updatesData = decoder.flag()
    if updatesData {
      _ = decoder.flag()
      for _ in 0..<4 { decoder.skipOptional(7 + 1) }
      for _ in 0..<4 { decoder.skipOptional(6 + 1) }
    }
    if updatesMap {
      for _ in 0..<3 { decoder.skipOptional(8) }
    }
  }

  private static func skipFilterAndQuantizers(_ decoder: inout BoolDecoder) {
    _ = decoder.literal(1 + 6 + 3)
    let adjusts = decoder.flag()
    if adjusts, decoder.flag() {
      for _ in 0..<8 { decoder.skipOptional(6 + 1) }
    }
    _ = decoder.literal(2 + 7)
    for _ in 0..<5 { decoder.skipOptional(4 + 1) }
  }
}

/// Which references an inter frame replaces, and with what (RFC 6386, 9.7).
struct VP8ReferenceUpdate {
  var refreshesLast: Bool
  var refreshesGolden: Bool
  var refreshesAltRef: Bool
  /// 1 copies the last frame, 2 the other one of the two.
  var copyToGolden = 0
  var copyToAltRef = 0

  init(_ decoder: inout BoolDecoder) {
    refreshesGolden = decoder.flag()
    refreshesAltRef = decoder.flag()
    if !refreshesGolden { copyToGolden = decoder.literal(2) }
    if !refreshesAltRef { copyToAltRef = decoder.literal(2) }
    // Sign biases and the fate of the probabilities.
    _ = decoder.literal(3)
    refreshesLast = decoder.flag()
  }
}
