import MediaCore
import Testing

@testable import RTP

@Suite("RTP packets (RFC 3550, 5.1)")
struct RTPPacketTests {
  @Test func headerIsReadWithSourcesExtensionAndPadding() throws {
    let bytes = hex(
      """
      b1 e0 12 34 00 01 02 03 de ad be ef  # V=2 P X CC=1, M, PT 96
      00 00 00 07                          # CSRC
      be de 00 01 10 aa 00 00              # one element
      01 02 03 00 00 03                    # payload and three bytes of padding
      """)
    let packet = try RTPPacket(parsing: PacketBuffer(copying: bytes))
    #expect(packet.marker)
    #expect(packet.payloadType == PayloadType(96))
    #expect(packet.sequenceNumber == SequenceNumber(0x1234))
    #expect(packet.timestamp == 0x0001_0203)
    #expect(packet.ssrc == SSRC(0xdead_beef))
    #expect(packet.headerLength == 24)
    #expect(packet.paddingLength == 3)
    #expect(packet.payload == [1, 2, 3])
    #expect(packet.withHeaderExtension(1) { Array($0) } == [0xaa])
  }

  @Test func brokenHeadersAreRefusedWithAReason() {
    func parse(_ text: String) -> RTPParseError? {
      do throws(RTPParseError) {
        _ = try RTPPacket(parsing: PacketBuffer(copying: hex(text)))
        return nil
      } catch { return error }
    }
    let fixed = "60 00 01 00 00 00 01 00 00 00 01"
    #expect(parse("80 60 00 01") == .tooShort)
    #expect(parse("40 \(fixed)") == .version)
    #expect(parse("81 \(fixed)") == .headerExceedsPacket)
    #expect(parse("90 \(fixed) be de") == .headerExceedsPacket)
    #expect(parse("90 \(fixed) be de 00 02 00 00 00 00") == .headerExceedsPacket)
    #expect(parse("a0 \(fixed) 02") == .paddingExceedsPacket)
    #expect(parse("80 \(fixed)") == nil)
  }

  @Test func whatIsBuiltIsRead() throws {
    let built = RTPPacket(
      payloadType: PayloadType(111), sequenceNumber: SequenceNumber(65535), timestamp: .max, ssrc: SSRC(7),
      marker: true,
      extensions: [(1, [1]), (3, [1, 2, 3]), (0, [9]), (15, [9]), (4, []), (14, Array(repeating: 5, count: 16))],
      payload: [9, 8, 7], padding: 5)
    let read = try #require(built.reparsed)
    for packet in [built, read] {
      #expect(packet.marker && packet.payloadType == PayloadType(111) && packet.timestamp == .max)
      #expect(packet.sequenceNumber == SequenceNumber(65535) && packet.ssrc == SSRC(7))
      #expect(packet.payload == [9, 8, 7])
      #expect(packet.paddingLength == 5)
      #expect(packet.withHeaderExtension(3) { Array($0) } == [1, 2, 3])
      #expect(packet.withHeaderExtension(14) { $0.count } == 16)
      #expect(packet.withHeaderExtension(4) { $0.count } == nil)
    }
  }

  @Test func editingShowsInBytesAndProperties() throws {
    var packet = RTPPacket.media(5).copy()
    packet.rewrite(
      payloadType: PayloadType(100), sequenceNumber: SequenceNumber(9), timestamp: 77, ssrc: SSRC(3), marker: true)
    let read = try #require(packet.reparsed)
    for packet in [packet, read] {
      #expect(packet.payloadType == PayloadType(100) && packet.sequenceNumber == SequenceNumber(9))
      #expect(packet.timestamp == 77 && packet.ssrc == SSRC(3) && packet.marker)
      #expect(packet.text == "packet 5")
    }
  }

  @Test func copyIsIndependent() {
    let original = RTPPacket.media(1)
    var copy = original.copy()
    copy.rewrite(timestamp: 99)
    #expect(original.reparsed?.timestamp == 3000)
  }

  @Test func retransmissionKeepsPayloadAndExtension() throws {
    let original = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(0xfffe), timestamp: 5, ssrc: SSRC(1), marker: true,
      extensions: [(2, [7, 7])], payload: [1, 2, 3], padding: 4)
    var wrapped = original.copy(prefixingPayload: original.sequenceNumber.rawValue)
    wrapped.rewrite(payloadType: PayloadType(97), sequenceNumber: SequenceNumber(1), ssrc: SSRC(2))
    let received = try #require(wrapped.reparsed)
    #expect(received.payload == [0xff, 0xfe, 1, 2, 3])
    let address = received.withPayload { $0.baseAddress }
    let unwrapped = try #require(received.unwrappingRetransmission(ssrc: SSRC(1), payloadType: PayloadType(96)))
    #expect(unwrapped.sequenceNumber == SequenceNumber(0xfffe) && unwrapped.marker && unwrapped.timestamp == 5)
    #expect(unwrapped.payload == [1, 2, 3])
    #expect(unwrapped.withHeaderExtension(2) { Array($0) } == [7, 7])
    #expect(unwrapped.withPayload { $0.baseAddress } == address.map { $0 + 2 }, "the payload must not move")
    #expect(unwrapped.reparsed?.payload == [1, 2, 3])
    #expect(
      RTPPacket.media(1, payload: [1]).unwrappingRetransmission(ssrc: SSRC(1), payloadType: PayloadType(96)) == nil)
  }

  @Test func controlIsToldFromMedia() {
    #expect(RTPPacket.isRTCP(first: 0x80, second: 200))
    #expect(RTPPacket.isRTCP(first: 0x8f, second: 206))
    #expect(!RTPPacket.isRTCP(first: 0x80, second: 96))
    #expect(!RTPPacket.isRTCP(first: 0x80, second: 0x80 | 111))
    #expect(!RTPPacket.isRTCP(first: 0x16, second: 200))
  }
}
