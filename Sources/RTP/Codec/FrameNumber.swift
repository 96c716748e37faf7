import Bitstream

/// Which frame of its stream a payload is of, where the codec numbers them: one more for each frame.
struct FrameNumber: Equatable {
  private let value: UInt16
  /// The numbers go round in these bits: 7 or 15.
  private let bits: UInt16
  /// Whether the frame begins with the payload.
  let isBeginning: Bool

  /// - Returns: nil where the payload does not tell.
  init?(_ codec: VideoCodec, _ payload: UnsafeRawBufferPointer) {
    switch codec {
    case .vp8: self.init(vp8: payload)
    case .vp9: self.init(vp9: payload)
    case .h264, .h265, .av1: return nil
    }
  }

  func isNext(after other: FrameNumber) -> Bool { bits == other.bits && value == (other.value &+ 1) & bits }

  private init?(vp8 payload: UnsafeRawBufferPointer) {
    guard let descriptor = VP8Descriptor(payload), let id = descriptor.pictureID else { return nil }
    (value, bits, isBeginning) = (id, descriptor.pictureIDWidth.rawValue, descriptor.startsFrame)
  }

  /// RFC 9628, 4.2: I says that the picture id follows; B that the frame of a layer begins, the lowest being the first.
  private init?(vp9 payload: UnsafeRawBufferPointer) {
    guard payload.count > 3, payload[0] & 0x80 != 0 else { return nil }
    let isLong = payload[1] & 0x80 != 0
    (value, bits) = isLong ? (payload.load16(at: 1) & 0x7fff, 0x7fff) : (UInt16(payload[1]), 0x7f)
    let layer = payload[0] & 0x20 != 0 ? payload[isLong ? 3 : 2] >> 1 & 7 : 0
    isBeginning = payload[0] & 0x08 != 0 && layer == 0
  }
}
