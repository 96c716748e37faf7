import MediaCore

private enum PacketType {
  static let senderReport: UInt8 = 200
  static let receiverReport: UInt8 = 201
  static let sourceDescription: UInt8 = 202
  static let goodbye: UInt8 = 203
  static let transportFeedback: UInt8 = 205
  static let payloadFeedback: UInt8 = 206
}

/// Numbers a NACK may name at the most; a packet of 1,500 bytes could name 6,000.
private let nackLimit = 2048

extension RTCPPacket {
  /// The packets of a compound. Reading stops at the first length that cannot be; what came before counts.
  public static func parse(_ bytes: UnsafeRawBufferPointer) -> [RTCPPacket] {
    var packets: [RTCPPacket] = []
    var offset = 0
    while offset + 4 <= bytes.count, bytes[offset] >> 6 == 2 {
      let length = 4 + 4 * Int(bytes.load16(at: offset + 2))
      guard offset + length <= bytes.count else { break }
      let packet = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
      append(packet, to: &packets)
      offset += length
    }
    return packets
  }

  private static func append(_ bytes: UnsafeRawBufferPointer, to packets: inout [RTCPPacket]) {
    let count = Int(bytes[0] & 31)
    switch bytes[1] {
    case PacketType.senderReport: senderReport(bytes, count).map { packets.append(.senderReport($0)) }
    case PacketType.receiverReport:
      guard bytes.count >= 8 else { return }
      packets.append(
        .receiverReport(ReceiverReport(ssrc: SSRC(bytes.load32(at: 4)), blocks: blocks(bytes, from: 8, count))))
    case PacketType.sourceDescription: sourceDescription(bytes).map { packets.append($0) }
    case PacketType.goodbye:
      let sources = (0..<count).map { 4 + 4 * $0 }.prefix { $0 + 4 <= bytes.count }
      packets.append(.goodbye(sources.map { SSRC(bytes.load32(at: $0)) }))
    case PacketType.transportFeedback: transportLayer(bytes, format: count).map { packets.append($0) }
    case PacketType.payloadFeedback: payloadSpecific(bytes, format: count, to: &packets)
    default: break
    }
  }

  private static func senderReport(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> SenderReport? {
    guard bytes.count >= 28 else { return nil }
    let ntp = UInt64(bytes.load32(at: 8)) << 32 | UInt64(bytes.load32(at: 12))
    return SenderReport(
      ssrc: SSRC(bytes.load32(at: 4)), ntp: NTPTime(rawValue: ntp), rtpTimestamp: bytes.load32(at: 16),
      packetCount: bytes.load32(at: 20), octetCount: bytes.load32(at: 24), blocks: blocks(bytes, from: 28, count))
  }

  private static func blocks(_ bytes: UnsafeRawBufferPointer, from start: Int, _ count: Int) -> [ReportBlock] {
    (0..<count).map { start + 24 * $0 }.prefix { $0 + 24 <= bytes.count }.map { offset in
      let lost = Int32(bitPattern: bytes.load32(at: offset + 4) << 8) >> 8
      return ReportBlock(
        ssrc: SSRC(bytes.load32(at: offset)), fractionLost: bytes[offset + 4], cumulativeLost: Int(lost),
        highestSequence: bytes.load32(at: offset + 8), jitter: bytes.load32(at: offset + 12),
        lastSenderReport: bytes.load32(at: offset + 16), delaySinceLastSenderReport: bytes.load32(at: offset + 20))
    }
  }

  private static func sourceDescription(_ bytes: UnsafeRawBufferPointer) -> RTCPPacket? {
    guard bytes.count >= 10, bytes[8] == 1, 10 + Int(bytes[9]) <= bytes.count else { return nil }
    let cname = String(decoding: bytes[10..<(10 + Int(bytes[9]))], as: UTF8.self)
    return .sourceDescription(ssrc: SSRC(bytes.load32(at: 4)), cname: cname)
  }

  private static func transportLayer(_ bytes: UnsafeRawBufferPointer, format: Int) -> RTCPPacket? {
    guard bytes.count >= 12 else { return nil }
    let (sender, media) = (SSRC(bytes.load32(at: 4)), SSRC(bytes.load32(at: 8)))
    if format == 15 { return TransportFeedback(parsing: bytes).map(RTCPPacket.transportFeedback) }
    guard format == 1 else { return nil }
    var lost: [SequenceNumber] = []
    for offset in stride(from: 12, to: bytes.count - 3, by: 4) where lost.count < nackLimit {
      let first = SequenceNumber(bytes.load16(at: offset))
      let mask = bytes.load16(at: offset + 2)
      lost.append(first)
      for bit in 0..<16 where mask & (1 << bit) != 0 { lost.append(first + (bit + 1)) }
    }
    return .nack(NegativeAcknowledgement(sender: sender, media: media, lost: lost))
  }

  private static func payloadSpecific(
    _ bytes: UnsafeRawBufferPointer, format: Int, to packets: inout [RTCPPacket]
  ) {
    guard bytes.count >= 12 else { return }
    let (sender, media) = (SSRC(bytes.load32(at: 4)), SSRC(bytes.load32(at: 8)))
    switch format {
    case 1: packets.append(.pictureLossIndication(sender: sender, media: media))
    case 4:
      // RFC 5104, 4.3.1: each entry names its stream; the field in the header is unused.
      for offset in stride(from: 12, to: bytes.count - 7, by: 8) {
        packets.append(.fullIntraRequest(sender: sender, media: SSRC(bytes.load32(at: offset))))
      }
    default: break
    }
  }
}
