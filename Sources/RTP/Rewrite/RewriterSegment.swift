import MediaCore

/// A stretch of one incoming stream, and what is added to its numbers on the way out.
struct RewriterSegment: Sendable {
  let source: SSRC
  /// The extended numbers that belong to it; `last` is nil while it goes on.
  let first: Int64
  var last: Int64?
  var highest: Int64
  var sequenceOffset: Int64 = 0
  var timestampOffset: UInt32 = 0
  /// The offset that the layers' clocks call for; the real one is a little more where time would have stood still.
  var idealOffset: UInt32 = 0
  /// Packets that are left out, and those of them that begin a frame.
  private var dropped = DroppedNumbers()
  private var droppedFrames = DroppedNumbers()
  private var pictureIDOffset: UInt16 = 0
  private var temporalLevelOffset: UInt8 = 0

  init(source: SSRC, first: Int64) {
    self.source = source
    self.first = first
    highest = first
  }

  func contains(_ number: Int64, of source: SSRC) -> Bool {
    source == self.source && number >= first && number <= last ?? .max
  }

  func isBreak(_ number: Int64) -> Bool { number &- highest > Int64(RewriterSources.largestStep) }

  /// The number on the way out.
  func outgoing(_ number: Int64) -> Int64 { number &+ sequenceOffset &- dropped.count(before: number) }

  /// Leaves the newest packet out when its temporal layer is above `limit`. A late one passes: those behind it have
  /// their numbers.
  mutating func drops(_ packet: RTPPacket, _ number: Int64, above limit: UInt8) -> Bool {
    guard number > highest, let descriptor = packet.withPayload({ VP8Descriptor($0) }),
      descriptor.temporalLayer ?? 0 > limit
    else { return false }
    highest = number
    dropped.append(number)
    if descriptor.startsFrame { droppedFrames.append(number) }
    return true
  }

  struct Frame: Sendable {
    var id: UInt16
    var temporalLevelIndex: UInt8
  }

  mutating func continueFrames(of packet: RTPPacket, after output: RewriterOutput) {
    guard let last = output.frame, let descriptor = packet.withPayload({ VP8Descriptor($0) }) else { return }
    pictureIDOffset = last.id &+ 1 &- (descriptor.pictureID ?? 0)
    temporalLevelOffset = last.temporalLevelIndex &+ 1 &- (descriptor.temporalLevelIndex ?? 0)
  }

  /// Rewrites the VP8 picture id and TL0PICIDX in place (RFC 7741, 4.2).
  func rewriteFrames(of packet: RTPPacket, _ number: Int64) -> Frame? {
    guard let descriptor = packet.withPayload({ VP8Descriptor($0) }) else { return nil }
    let offset = pictureIDOffset &- UInt16(truncatingIfNeeded: droppedFrames.count(before: number))
    let frame = Frame(
      id: ((descriptor.pictureID ?? 0) &+ offset) & descriptor.pictureIDWidth.rawValue,
      temporalLevelIndex: (descriptor.temporalLevelIndex ?? 0) &+ temporalLevelOffset)
    packet.withMutablePayload {
      descriptor.write(pictureID: frame.id, temporalLevelIndex: frame.temporalLevelIndex, to: $0)
    }
    return descriptor.pictureID == nil && descriptor.temporalLevelIndex == nil ? nil : frame
  }
}
