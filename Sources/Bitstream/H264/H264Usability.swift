/// What of a sequence's usability information is needed here (ITU-T H.264, E.1.1). What cannot be read is as if unsaid.
struct H264Usability: Sendable, Equatable {
  /// Whether black is 0 and not 16.
  private(set) var isFullRange = false
  /// `max_num_reorder_frames`; nil where it is not said.
  private(set) var reorderedFrames: Int?

  /// - Parameter reader: stands behind `frame_mbs_only_flag`.
  init(behindFrame reader: inout BitReader) { try? read(&reader) }

  private mutating func read(_ reader: inout BitReader) throws(UnreadableStream) {
    reader.skip(1)
    if try reader.bit() { try Self.skipNumbers(4, &reader) }
    guard try reader.bit() else { return }
    let extendedAspect = 255
    if try reader.bit(), try reader.bits(8) == extendedAspect { reader.skip(32) }
    if try reader.bit() { reader.skip(1) }
    if try reader.bit() { try readSignal(&reader) }
    // Where colour samples lie, and the length of a tick.
    if try reader.bit() { try Self.skipNumbers(2, &reader) }
    if try reader.bit() { reader.skip(65) }
    try Self.skipBuffering(&reader)
    reader.skip(1)
    guard try reader.bit() else { return }
    reader.skip(1)
    try Self.skipNumbers(4, &reader)
    // As many as a decoder may keep.
    reorderedFrames = try reader.unsigned(upTo: 16)
  }

  private mutating func readSignal(_ reader: inout BitReader) throws(UnreadableStream) {
    reader.skip(3)
    isFullRange = try reader.bit()
    if try reader.bit() { reader.skip(24) }
  }

  /// The hypothetical decoder's parameters, of up to two kinds (E.1.2).
  private static func skipBuffering(_ reader: inout BitReader) throws(UnreadableStream) {
    var areThere = false
    for _ in 0..<2 where try reader.bit() {
      areThere = true
      let count = try reader.unsigned(upTo: 31) + 1
      reader.skip(8)
      for _ in 0..<count {
        try skipNumbers(2, &reader)
        reader.skip(1)
      }
      reader.skip(20)
    }
    if areThere { reader.skip(1) }
  }

  private static func skipNumbers(_ count: Int, _ reader: inout BitReader) throws(UnreadableStream) {
    for _ in 0..<count { _ = try reader.unsigned() }
  }
}
