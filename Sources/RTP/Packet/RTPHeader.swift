import MediaCore

/// What stands before the payload (RFC 3550, 5.1 and 5.3.1), read in one go.
struct RTPHeader {
  static let fixedLength = 12

  var marker: Bool
  var payloadType: PayloadType
  var sequenceNumber: SequenceNumber
  var timestamp: UInt32
  var ssrc: SSRC
  var length: Int
  var padding: Int
  var extensionBlock: RTPPacket.ExtensionBlock?

  static func parse(_ bytes: UnsafeRawBufferPointer) -> Result<RTPHeader, RTPParseError> {
    guard bytes.count >= fixedLength else { return .failure(.tooShort) }
    guard bytes[0] >> 6 == 2 else { return .failure(.version) }
    var length = fixedLength + 4 * Int(bytes[0] & 15)
    var block: RTPPacket.ExtensionBlock?
    if bytes[0] & 0x10 != 0 {
      guard bytes.count >= length + 4 else { return .failure(.headerExceedsPacket) }
      let count = 4 * Int(bytes.load16(at: length + 2))
      block = .init(profile: bytes.load16(at: length), offset: length + 4, count: count)
      length += 4 + count
    }
    guard bytes.count >= length else { return .failure(.headerExceedsPacket) }
    let padding = bytes[0] & 0x20 != 0 ? Int(bytes[bytes.count - 1]) : 0
    guard length + padding <= bytes.count else { return .failure(.paddingExceedsPacket) }
    return .success(
      RTPHeader(
        marker: bytes[1] & 0x80 != 0, payloadType: PayloadType(bytes[1]),
        sequenceNumber: SequenceNumber(bytes.load16(at: 2)), timestamp: bytes.load32(at: 4),
        ssrc: SSRC(bytes.load32(at: 8)), length: length, padding: padding, extensionBlock: block))
  }
}
