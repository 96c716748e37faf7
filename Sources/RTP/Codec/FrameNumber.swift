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

  /// Of all layers the lowest one is the first.
  private init?(vp9 payload: UnsafeRawBufferPointer) {
    guard let descriptor = VP9Descriptor(payload), let id = descriptor.pictureID else { return nil }
    (value, bits) = (id, descriptor.pictureIDBits)
    isBeginning = descriptor.startsFrame && descriptor.spatialLayer == 0
  }
}
