import MediaCore
import RTP

extension RTPPacket {
  /// A packet of media; its payload says its number unless another is given.
  static func media(
    _ number: Int, type: UInt8 = 96, ssrc: UInt32 = 0x1111, timestamp: UInt32? = nil, marker: Bool = false,
    payload: [UInt8]? = nil
  ) -> RTPPacket {
    let low = UInt16(truncatingIfNeeded: number)
    return RTPPacket(
      payloadType: PayloadType(type), sequenceNumber: SequenceNumber(low),
      timestamp: timestamp ?? UInt32(truncatingIfNeeded: number &* 3000), ssrc: SSRC(ssrc), marker: marker,
      payload: payload ?? Array("packet \(number)".utf8))
  }

  var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
  var payload: [UInt8] { withPayload { Array($0) } }
  var text: String { String(decoding: payload, as: UTF8.self) }

  /// The same packet as the other side would read it.
  var reparsed: RTPPacket? { try? RTPPacket(parsing: PacketBuffer(copying: bytes)) }
}

extension MediaTime {
  static func ms(_ milliseconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(milliseconds * 1e6)) }
  var milliseconds: Double { Double(nanoseconds) / 1e6 }
}

func roundTrip(_ packets: [RTCPPacket]) -> [RTCPPacket] {
  RTCPPacket.serialize(packets).withUnsafeBytes { RTCPPacket.parse($0) }
}

func parseRTCP(_ bytes: [UInt8]) -> [RTCPPacket] { bytes.withUnsafeBytes { RTCPPacket.parse($0) } }
