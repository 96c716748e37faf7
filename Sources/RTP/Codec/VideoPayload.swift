public import Bitstream

extension VideoCodec {
  /// True for the payload of a packet with which a picture begins that needs no other: where a decoder can start.
  public func startsKeyframe(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard !payload.isEmpty else { return false }
    switch self {
    case .vp8: return VP8Descriptor(payload)?.startsKeyframe ?? false
    case .vp9: return Self.vp9StartsKeyframe(payload)
    case .h264: return Self.h264StartsUnit(payload) { $0 == 5 || $0 == 7 }
    case .h265: return Self.h265StartsUnit(payload) { (16...21).contains($0) || (32...34).contains($0) }
    case .av1: return Self.av1StartsKeyframe(payload)
    }
  }

  /// The temporal layer of the frame that a payload begins, where the payload says it: VP8's TID (RFC 7741, 4.2).
  public func temporalLayer(ofFrameBegunBy payload: UnsafeRawBufferPointer) -> UInt8? {
    guard self == .vp8, let descriptor = VP8Descriptor(payload), descriptor.startsFrame else { return nil }
    return descriptor.temporalLayer
  }

  /// True for the payload that brings the parameter sets (H.264's type 7, H.265's 32 and 33) which encoders put before
  /// each keyframe; nil for codecs that have none.
  func startsParameterSets(_ payload: UnsafeRawBufferPointer) -> Bool? {
    switch self {
    case .h264: !payload.isEmpty && Self.h264StartsUnit(payload) { $0 == 7 }
    case .h265: !payload.isEmpty && Self.h265StartsUnit(payload) { $0 == 32 || $0 == 33 }
    case .vp8, .vp9, .av1: nil
    }
  }

  /// RFC 9628, 4.2: not predicted from another picture, beginning of a frame, and of the lowest spatial layer.
  private static func vp9StartsKeyframe(_ payload: UnsafeRawBufferPointer) -> Bool {
    let flags = payload[0]
    guard flags & 0x40 == 0, flags & 0x08 != 0 else { return false }
    guard flags & 0x20 != 0 else { return true }
    var offset = 1
    if flags & 0x80 != 0 {
      guard payload.count > 1 else { return false }
      offset += payload[1] & 0x80 != 0 ? 2 : 1
    }
    return offset < payload.count && payload[offset] >> 1 & 7 == 0
  }

  /// RFC 6184, 5.2: a wanted unit alone, aggregated, or in its first fragment.
  private static func h264StartsUnit(_ payload: UnsafeRawBufferPointer, _ isWanted: (UInt8) -> Bool) -> Bool {
    switch payload[0] & 31 {
    case 24: return contains(payload, from: 1) { isWanted($0 & 31) }
    case 28: return payload.count > 1 && payload[1] & 0x80 != 0 && isWanted(payload[1] & 31)
    case let type: return isWanted(type)
    }
  }

  /// RFC 7798, 4.4: the same for H.265.
  private static func h265StartsUnit(_ payload: UnsafeRawBufferPointer, _ isWanted: (UInt8) -> Bool) -> Bool {
    switch payload[0] >> 1 & 63 {
    case 48: return contains(payload, from: 2) { isWanted($0 >> 1 & 63) }
    case 49: return payload.count > 2 && payload[2] & 0x80 != 0 && isWanted(payload[2] & 63)
    case let type: return isWanted(type)
    }
  }

  /// The AV1 RTP specification, 4.4: N says that a coded video sequence begins; Z that its start was elsewhere.
  private static func av1StartsKeyframe(_ payload: UnsafeRawBufferPointer) -> Bool {
    payload[0] & 0x88 == 0x08
  }

  /// Looks through units that stand behind 16-bit lengths.
  private static func contains(
    _ payload: UnsafeRawBufferPointer, from start: Int, _ isWanted: (UInt8) -> Bool
  ) -> Bool {
    var offset = start
    while offset + 2 < payload.count {
      let length = Int(payload.load16(at: offset))
      guard length > 0 else { return false }
      if isWanted(payload[offset + 2]) { return true }
      offset += 2 + length
    }
    return false
  }
}
