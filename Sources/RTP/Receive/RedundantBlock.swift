import MediaCore

/// One block of a RED payload, oldest first; the last is the primary one (RFC 2198, 3).
struct RedundantBlock {
  var payloadType: PayloadType
  var timestampOffset: UInt32
  /// Within the packet.
  var range: Range<Int>

  static func parse(_ packet: RTPPacket) -> [RedundantBlock]? {
    packet.withUnsafeBytes { bytes in
      var headers: [(PayloadType, UInt32, Int)] = []
      var offset = packet.headerLength
      let end = packet.headerLength + packet.payloadLength
      while true {
        guard offset < end, headers.count < 16 else { return nil }
        let type = PayloadType(bytes[offset])
        if bytes[offset] & 0x80 == 0 {
          headers.append((type, 0, -1))
          offset += 1
          break
        }
        guard offset + 4 <= end else { return nil }
        let bits = bytes.load32(at: offset) & 0xff_ffff
        headers.append((type, bits >> 10, Int(bits & 0x3ff)))
        offset += 4
      }
      var blocks: [RedundantBlock] = []
      for (type, timestampOffset, length) in headers {
        let next = length < 0 ? end : offset + length
        guard next <= end else { return nil }
        blocks.append(RedundantBlock(payloadType: type, timestampOffset: timestampOffset, range: offset..<next))
        offset = next
      }
      return blocks
    }
  }
}
