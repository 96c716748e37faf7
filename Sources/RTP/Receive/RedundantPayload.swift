import MediaCore

extension RTPPacket {
  /// A copy with the packet's own payload alone, in its format; nil for what is not RED.
  public func withoutRedundancy() -> RTPPacket? {
    guard let redundant = withPayload({ RedundantPayload($0) }) else { return nil }
    var packet = copy().droppingPayloadPrefix(redundant.primaryStart)
    packet.rewrite(payloadType: redundant.primaryType)
    return packet
  }
}

/// A payload that holds earlier payloads beside its own (RFC 2198, 3), read without copying.
struct RedundantPayload {
  struct Block: Equatable {
    var payloadType: PayloadType
    /// How much earlier than the packet's own timestamp.
    var timestampOffset: UInt32
    /// Offsets within the payload.
    var range: Range<Int>
  }

  let primaryType: PayloadType
  /// Where the packet's own payload starts.
  let primaryStart: Int
  let redundantCount: Int
  private let headersLength: Int

  private static let headerLength = 4
  /// libwebrtc sends up to 2 and reads up to 9.
  private static let limit = 32

  init?(_ payload: UnsafeRawBufferPointer) {
    var offset = 0
    var length = 0
    var count = 0
    while offset < payload.count, payload[offset] & 0x80 != 0 {
      guard offset + Self.headerLength <= payload.count, count < Self.limit else { return nil }
      length += Int(payload.load16(at: offset + 2) & 0x3ff)
      offset += Self.headerLength
      count += 1
    }
    guard offset < payload.count, offset + 1 + length <= payload.count else { return nil }
    primaryType = PayloadType(payload[offset])
    headersLength = offset + 1
    primaryStart = offset + 1 + length
    redundantCount = count
  }

  /// Calls `body` with each earlier payload, the oldest first.
  func forEachRedundant(in payload: UnsafeRawBufferPointer, _ body: (Int, Block) -> Void) {
    var start = headersLength
    for index in 0..<redundantCount {
      let header = index * Self.headerLength
      let length = Int(payload.load16(at: header + 2) & 0x3ff)
      let block = Block(
        payloadType: PayloadType(payload[header]), timestampOffset: UInt32(payload.load16(at: header + 1) >> 2),
        range: start..<(start + length))
      start += length
      body(index, block)
    }
  }
}
