/// What the uncompressed header of a VP9 frame says about the references (VP9 bitstream specification, 6.2).
struct VP9FrameHeader {
  enum Kind {
    /// Shows what a slot holds.
    case existing(slot: Int)
    /// Is decoded and kept in the slots whose bits are set.
    case coded(refreshed: Int, isShown: Bool)
  }

  var profile: Int
  var kind: Kind

  init(_ frame: UnsafeRawBufferPointer) throws(UnreadableStream) {
    // No more than this is looked at.
    var reader = BitReader(Array(frame.prefix(16)))
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
    let refreshed =
      isInter
      ? try Self.refreshed(&reader, profile: profile, isShown: isShown, isErrorResilient: isErrorResilient)
      : try Self.keyframe(&reader)
    kind = .coded(refreshed: refreshed, isShown: isShown)
  }

  private static func keyframe(_ reader: inout BitReader) throws(UnreadableStream) -> Int {
    try readSyncCode(&reader)
    return 0xff
  }

  private static func refreshed(
    _ reader: inout BitReader, profile: Int, isShown: Bool, isErrorResilient: Bool
  ) throws(UnreadableStream) -> Int {
    let isIntraOnly = isShown ? false : try reader.bit()
    // Which probabilities are reset.
    if !isErrorResilient { reader.skip(2) }
    if isIntraOnly {
      try readSyncCode(&reader)
      if profile > 0 { try skipColor(&reader, profile: profile) }
    }
    return try reader.bits(8)
  }

  private static func readSyncCode(_ reader: inout BitReader) throws(UnreadableStream) {
    guard try reader.bits(24) == 0x498342 else { throw UnreadableStream() }
  }

  private static func skipColor(_ reader: inout BitReader, profile: Int) throws(UnreadableStream) {
    let rgb = 7
    if profile >= 2 { reader.skip(1) }
    let isRGB = try reader.bits(3) == rgb
    let hasSubsampling = profile & 1 == 1
    if isRGB {
      if hasSubsampling { reader.skip(1) }
    } else {
      reader.skip(hasSubsampling ? 1 + 2 + 1 : 1)
    }
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
