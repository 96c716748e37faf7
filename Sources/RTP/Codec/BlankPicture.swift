public import Bitstream

extension VideoCodec {
  /// True for a whole picture of one macroblock (16x16 or less) in one payload. A LiveKit server sends some of these when
  /// it stops sending a track, to clear a browser's screen; nobody publishes such a thing.
  public func isBlankPicture(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard payload.count < Self.blankLimit else { return false }
    switch self {
    case .vp8: return Self.vp8IsBlank(payload)
    case .h264: return Self.h264IsBlank(payload)
    case .vp9, .h265, .av1: return false
    }
  }

  private static let blankLimit = 200
  private static let macroblock = 16

  /// RFC 6386, 9.1: frame tag, start code, then 14 bits of width and of height.
  private static func vp8IsBlank(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let descriptor = VP8Descriptor(payload), descriptor.startsKeyframe else { return false }
    let start = descriptor.length
    guard payload.count >= start + 10, payload[start + 3] == 0x9d, payload[start + 4] == 0x01,
      payload[start + 5] == 0x2a
    else { return false }
    func size(at offset: Int) -> Int { Int(payload[offset]) | Int(payload[offset + 1] & 0x3f) << 8 }
    let (width, height) = (size(at: start + 6), size(at: start + 8))
    return (1...macroblock).contains(width) && (1...macroblock).contains(height)
  }

  /// A STAP-A packet (RFC 6184, 5.7.1) that begins with a sequence parameter set of one macroblock.
  private static func h264IsBlank(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard payload.count > 3, payload[0] & 31 == 24, payload[3] & 31 == 7 else { return false }
    let length = Int(payload.load16(at: 1))
    guard length > 4, 3 + length <= payload.count else { return false }
    var bits = ParameterSetBits(UnsafeRawBufferPointer(rebasing: payload[4..<(3 + length)]))
    return bits.describesOneMacroblock
  }
}

/// The head of a sequence parameter set, behind the byte of the unit's type (H.264, 7.3.2.1.1).
private struct ParameterSetBits {
  private let bytes: UnsafeRawBufferPointer
  private var position = 24

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var describesOneMacroblock: Bool {
    mutating get {
      // Profiles above these have more fields before the size.
      guard [66, 77, 88].contains(bytes[0]), golomb() != nil, golomb() != nil, let orderType = golomb() else {
        return false
      }
      // Only type 1, which no encoder of WebRTC uses, has a list here.
      guard orderType == 2 || orderType == 0 && golomb() != nil, golomb() != nil, bit() != nil else { return false }
      return golomb() == 0 && golomb() == 0
    }
  }

  private mutating func bit() -> Int? {
    guard position / 8 < bytes.count else { return nil }
    defer { position += 1 }
    return Int(bytes[position / 8] >> UInt8(7 - position % 8)) & 1
  }

  /// ue(v), H.264, 9.1.
  private mutating func golomb() -> Int? {
    var zeros = 0
    while true {
      guard let next = bit() else { return nil }
      if next == 1 { break }
      zeros += 1
      guard zeros < 32 else { return nil }
    }
    var value = 0
    for _ in 0..<zeros {
      guard let next = bit() else { return nil }
      value = value << 1 | next
    }
    return (1 << zeros) - 1 + value
  }
}
