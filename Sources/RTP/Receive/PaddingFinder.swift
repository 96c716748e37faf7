import Bitstream

/// Tells lost padding from lost media by the numbers of the frames around it. A sender that probes for bandwidth without
/// RTX sends padding under the numbers of the media, and never again: waiting for it would cost a keyframe. Pure.
struct PaddingFinder: Sendable {
  private var newest: Int64?
  /// The newest packet, where a frame ends with it that has a number.
  private var end: (number: FrameNumber, timestamp: UInt32)?

  /// What was between two frames, of which the second comes right after the first.
  struct Padding: Equatable {
    var numbers: Range<Int64>
    var timestamp: UInt32
  }

  /// Takes a packet of media.
  /// - Parameter number: its extended sequence number.
  /// - Returns: nil where the numbers go on, or media may be missing.
  mutating func note(_ packet: RTPPacket, number: Int64, _ codec: VideoCodec) -> Padding? {
    guard newest.map({ number > $0 }) ?? true else { return nil }
    defer {
      newest = number
      end = packet.marker ? packet.withPayload { FrameNumber(codec, $0) }.map { ($0, packet.timestamp) } : nil
    }
    guard let newest, let end, number > newest + 1, number - newest <= Self.limit,
      let frame = packet.withPayload({ FrameNumber(codec, $0) }), frame.isBeginning, frame.isNext(after: end.number)
    else { return nil }
    return Padding(numbers: newest + 1..<number, timestamp: end.timestamp)
  }
  private static let limit: Int64 = 100

  /// The sender counts from somewhere else.
  mutating func reset() { (newest, end) = (nil, nil) }
}
