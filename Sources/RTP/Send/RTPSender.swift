public import MediaCore

/// The sending end of one stream: keeps what was sent for those who missed it, and counts for the reports.
public struct RTPSender: Sendable {
  public struct Retransmission: Sendable {
    public var ssrc: SSRC
    public var payloadType: PayloadType
    public init(ssrc: SSRC, payloadType: PayloadType) {
      self.ssrc = ssrc
      self.payloadType = payloadType
    }
  }

  public let ssrc: SSRC
  public var retransmission: Retransmission?
  public private(set) var packetCount: UInt32 = 0
  public private(set) var octetCount: UInt32 = 0

  private var history: [RTPPacket?]
  private var rtxSequence: UInt16
  private static let historySize = 1024

  /// - Parameter firstRetransmission: where the retransmissions' own numbers start; random in use (RFC 3550, 5.1).
  public init(ssrc: SSRC, retransmission: Retransmission?, firstRetransmission: UInt16) {
    self.ssrc = ssrc
    self.retransmission = retransmission
    history = Array(repeating: nil, count: Self.historySize)
    rtxSequence = firstRetransmission
  }

  public mutating func sent(_ packet: RTPPacket) {
    packetCount &+= 1
    octetCount &+= UInt32(truncatingIfNeeded: packet.payloadLength)
    history[Int(packet.sequenceNumber.rawValue) % Self.historySize] = packet
  }

  /// The packets a NACK asks for that are still here, wrapped for the retransmission stream when there is one
  /// (RFC 4588, 4), else as they were.
  public mutating func answer(_ nack: NegativeAcknowledgement) -> [RTPPacket] {
    nack.lost.compactMap { number in
      guard let packet = history[Int(number.rawValue) % Self.historySize], packet.sequenceNumber == number else {
        return nil
      }
      return retransmission.map { wrap(packet, $0) } ?? packet
    }
  }

  private mutating func wrap(_ packet: RTPPacket, _ retransmission: Retransmission) -> RTPPacket {
    defer { rtxSequence &+= 1 }
    let number = packet.sequenceNumber.rawValue
    let payload = [UInt8(number >> 8), UInt8(number & 0xff)] + packet.withPayload { Array($0) }
    return payload.withUnsafeBytes {
      RTPPacket(
        payloadType: retransmission.payloadType, sequenceNumber: SequenceNumber(rtxSequence),
        timestamp: packet.timestamp, ssrc: retransmission.ssrc, marker: packet.marker, payload: $0)
    }
  }

  /// A report that says which RTP timestamp belongs to which wall-clock time.
  public func report(ntp: NTPTime, rtpTimestamp: UInt32) -> SenderReport {
    SenderReport(
      ssrc: ssrc, ntp: ntp, rtpTimestamp: rtpTimestamp, packetCount: packetCount, octetCount: octetCount)
  }
}
