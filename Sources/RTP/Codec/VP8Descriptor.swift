import Bitstream

/// The head of a VP8 payload (RFC 7741, 4.2), and where the numbers in it stand that go on across a switch.
struct VP8Descriptor: Equatable {
  /// Which bits of the picture id there are: 7 or 15.
  enum PictureIDWidth: UInt16 {
    case short = 0x7f
    case long = 0x7fff
  }

  private(set) var length = 1
  private(set) var startsFrame = false
  private(set) var startsKeyframe = false
  private(set) var pictureID: UInt16?
  private(set) var pictureIDWidth = PictureIDWidth.short
  private(set) var temporalLevelIndex: UInt8?
  /// TID: frames of one layer need only those of this one and of lower ones.
  private(set) var temporalLayer: UInt8?
  private var pictureIDOffset = 0
  private var temporalLevelOffset = 0

  init?(_ payload: UnsafeRawBufferPointer) {
    guard let first = payload.first else { return nil }
    if first & 0x80 != 0 {
      guard readExtension(payload) else { return nil }
    }
    guard length <= payload.count else { return nil }
    startsFrame = first & 0x10 != 0 && first & 0x0f == 0
    startsKeyframe = startsFrame && length < payload.count && VP8FrameHeader.isKeyframe(firstByte: payload[length])
  }

  private mutating func readExtension(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard payload.count > 1 else { return false }
    let flags = payload[1]
    length = 2
    if flags & 0x80 != 0 {
      guard length < payload.count else { return false }
      pictureIDOffset = length
      pictureIDWidth = payload[length] & 0x80 != 0 ? .long : .short
      length += pictureIDWidth == .long ? 2 : 1
      guard length <= payload.count else { return false }
      let id = pictureIDWidth == .long ? payload.load16(at: pictureIDOffset) : UInt16(payload[pictureIDOffset])
      pictureID = id & pictureIDWidth.rawValue
    }
    if flags & 0x40 != 0 {
      guard length < payload.count else { return false }
      temporalLevelOffset = length
      temporalLevelIndex = payload[length]
      length += 1
    }
    if flags & 0x30 != 0 {
      guard length < payload.count else { return false }
      if flags & 0x20 != 0 { temporalLayer = payload[length] >> 6 }
      length += 1
    }
    return true
  }

  /// Writes other numbers where the payload that was read has such.
  func write(pictureID id: UInt16, temporalLevelIndex index: UInt8, to payload: UnsafeMutableRawBufferPointer) {
    if pictureID != nil {
      if pictureIDWidth == .long {
        payload.store(0x8000 | id & 0x7fff, at: pictureIDOffset)
      } else {
        payload[pictureIDOffset] = UInt8(id & 0x7f)
      }
    }
    if temporalLevelIndex != nil { payload[temporalLevelOffset] = index }
  }
}
