public import MediaCore

/// One RTCP packet of a compound (RFC 3550, 6; RFC 4585, 6). What we do not know is passed over when reading.
public enum RTCPPacket: Sendable, Equatable {
  /// Which wall-clock time a timestamp stands for, and what was sent (RFC 3550, 6.4.1).
  case senderReport(SenderReport)
  /// How others are received, of one that sends nothing (RFC 3550, 6.4.2).
  case receiverReport(ReceiverReport)
  /// The name by which the streams of one sender belong together (RFC 3550, 6.5.1).
  case sourceDescription(ssrc: SSRC, cname: String)
  /// Streams that end (RFC 3550, 6.6).
  case goodbye([SSRC])
  /// Packets that are to be sent again (RFC 4585, 6.2.1).
  case nack(NegativeAcknowledgement)
  /// A frame cannot be decoded: in practice a request for a keyframe (RFC 4585, 6.3.1).
  case pictureLossIndication(sender: SSRC, media: SSRC)
  /// RFC 5104, 4.3.1: a repeated request keeps its `command` number, a new one takes the next.
  case fullIntraRequest(sender: SSRC, media: SSRC, command: UInt8)
  /// What bitrate the receiver can take (REMB).
  case receiverEstimate(REMB)
  /// When packets arrived, by their transport-wide numbers.
  case transportFeedback(TransportFeedback)

  /// The packets of a compound. Reading stops at the first length that cannot be; what came before counts.
  public static func parse(_ bytes: UnsafeRawBufferPointer) -> [RTCPPacket] {
    var packets: [RTCPPacket] = []
    var offset = 0
    while offset + 4 <= bytes.count, bytes[offset] >> 6 == 2 {
      let length = 4 + 4 * Int(bytes.load16(at: offset + 2))
      guard offset + length <= bytes.count else { break }
      if let body = RTCPBody(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])) {
        append(body, to: &packets)
      }
      offset += length
    }
    return packets
  }

  /// The compound packet as bytes.
  public static func serialize(_ packets: [RTCPPacket]) -> [UInt8] {
    var writer = RTCPWriter()
    for packet in packets { packet.write(to: &writer) }
    return writer.bytes
  }

  private static func append(_ body: RTCPBody, to packets: inout [RTCPPacket]) {
    switch body.type {
    case .senderReport: packets.append(SenderReport(body), RTCPPacket.senderReport)
    case .receiverReport: packets.append(ReceiverReport(body), RTCPPacket.receiverReport)
    case .sourceDescription: SourceDescription.parse(body, into: &packets)
    case .goodbye: packets.append(.goodbye(Goodbye.parse(body)))
    case .transportFeedback where body.count == NegativeAcknowledgement.format:
      packets.append(NegativeAcknowledgement(body), RTCPPacket.nack)
    case .transportFeedback where body.count == TransportFeedback.format:
      packets.append(TransportFeedback(body), RTCPPacket.transportFeedback)
    case .payloadFeedback where body.count == PictureLossIndication.format:
      PictureLossIndication.parse(body, into: &packets)
    case .payloadFeedback where body.count == FullIntraRequest.format:
      FullIntraRequest.parse(body, into: &packets)
    case .payloadFeedback where body.count == REMB.format:
      packets.append(REMB(body), RTCPPacket.receiverEstimate)
    default: break
    }
  }

  private func write(to writer: inout RTCPWriter) {
    switch self {
    case .senderReport(let report): report.write(to: &writer)
    case .receiverReport(let report): report.write(to: &writer)
    case .sourceDescription(let ssrc, let cname): SourceDescription.write(ssrc, cname: cname, to: &writer)
    case .goodbye(let sources): Goodbye.write(sources, to: &writer)
    case .nack(let nack): nack.write(to: &writer)
    case .pictureLossIndication(let sender, let media): PictureLossIndication.write(sender, media, to: &writer)
    case .fullIntraRequest(let sender, let media, let command):
      FullIntraRequest.write(sender, media, command, to: &writer)
    case .receiverEstimate(let estimate): estimate.write(to: &writer)
    case .transportFeedback(let feedback): feedback.write(to: &writer)
    }
  }
}

extension [RTCPPacket] {
  fileprivate mutating func append<Message>(_ message: Message?, _ make: (Message) -> RTCPPacket) {
    if let message { append(make(message)) }
  }
}
