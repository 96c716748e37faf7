import Bitstream

/// What LiveKit's clients may put behind each frame, such as when it was captured: elements of a tag, a length and a
/// value, and the length of all, each byte of it inverted; then `LKTS`.
///
/// The server takes it off, but up to 1.13 only where the RTP marker is. Behind the lower spatial layers of VP9 it
/// stays, and no decoder reads over bytes between two frames.
enum FrameTrailer {
  private static let mark = Array("LKTS".utf8)
  /// The length of all, and the mark.
  private static let endLength = 5

  /// Bytes of it at the end of a payload; 0 where there is none.
  static func length(in payload: UnsafeRawBufferPointer) -> Int {
    let end = payload.count - endLength
    guard end > 0, payload.suffix(mark.count).elementsEqual(mark) else { return 0 }
    let length = Int(~payload[end])
    guard length >= endLength, length < payload.count else { return 0 }
    var offset = payload.count - length
    while offset + 1 < end { offset += 2 + Int(~payload[offset + 1]) }
    return offset == end ? length : 0
  }
}

extension RTPPacket {
  /// The same packet without a trailer behind a layer's frame, which becomes padding. Edits it in place.
  func cuttingTrailer(_ codec: VideoCodec) -> RTPPacket {
    guard codec == .vp9, withPayload({ VP9Descriptor($0)?.endsFrame }) == true else { return self }
    let length = withPayload { FrameTrailer.length(in: $0) }
    return length > 0 ? paddingPayloadSuffix(length) : self
  }
}
