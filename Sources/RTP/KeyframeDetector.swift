/// Whether an RTP payload begins a picture that can be decoded without others.
public enum KeyframeDetector {
  /// - Parameter codec: `VP8`, `VP9` or `H264`, in any case; others count as keyframes.
  public static func isKeyframe(_ payload: UnsafeRawBufferPointer, codec: String) -> Bool {
    switch codec.uppercased() {
    case "VP8": vp8(payload)
    case "VP9": vp9(payload)
    case "H264": h264(payload)
    default: true
    }
  }

  /// RFC 7741, 4.2 and 4.3: start of partition 0, then the frame tag's lowest bit is 0.
  private static func vp8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, first & 0x17 == 0x10 else { return false }
    var offset = 1
    if first & 0x80 != 0 {
      guard bytes.count > offset else { return false }
      let flags = bytes[offset]
      offset += 1
      if flags & 0x80 != 0 {
        guard bytes.count > offset else { return false }
        offset += bytes[offset] & 0x80 != 0 ? 2 : 1
      }
      if flags & 0x40 != 0 { offset += 1 }
      if flags & 0x30 != 0 { offset += 1 }
    }
    return bytes.count > offset && bytes[offset] & 1 == 0
  }

  /// RFC 9628, 4.2: not inter-picture predicted, start of a frame, and of the lowest spatial layer.
  private static func vp9(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, first & 0x40 == 0, first & 0x08 != 0 else { return false }
    var offset = 1
    if first & 0x80 != 0 {
      guard bytes.count > offset else { return false }
      offset += bytes[offset] & 0x80 != 0 ? 2 : 1
    }
    guard first & 0x20 != 0 else { return true }
    return bytes.count > offset && bytes[offset] >> 1 & 7 == 0
  }

  /// RFC 6184, 5.2: an SPS or an IDR slice, alone, in an aggregate or at the start of a fragmented unit.
  private static func h264(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first else { return false }
    switch first & 31 {
    case 5, 7: return true
    case 24: return aggregateHasKeyframe(bytes)
    case 28: return bytes.count > 1 && bytes[1] & 0x80 != 0 && [5, 7].contains(bytes[1] & 31)
    default: return false
    }
  }

  private static func aggregateHasKeyframe(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 1
    while offset + 3 <= bytes.count {
      if [5, 7].contains(bytes[offset + 2] & 31) { return true }
      offset += 2 + Int(bytes.load16(at: offset))
    }
    return false
  }
}
