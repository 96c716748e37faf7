import MediaCore
import Testing

@testable import RTP

@Suite("Audio that is sent redundantly (RFC 2198)")
struct RedundancyWriterTests {
  private static let (red, opus) = (PayloadType(63), PayloadType(111))

  private var writer = RedundancyWriter(of: opus)
  private var receiver = RTPReceiver(
    configuration: .init(ssrc: SSRC(0x1111), clockRate: 48_000, formats: [red: .redundant, opus: .media]))

  private mutating func packet(_ number: Int, ticks: Int = 960, length: Int? = nil, isRepeating: Bool = true)
    -> RTPPacket?
  {
    let payload = length.map { Array(repeating: UInt8(number & 255), count: $0) } ?? Array("frame \(number)".utf8)
    let media = RTPPacket.media(
      number, type: 96, timestamp: UInt32(truncatingIfNeeded: number * ticks), payload: payload)
    return media.withUnsafeBytes {
      writer.repack(
        $0, payloadType: Self.red, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
        ssrc: SSRC(0x1111), isRepeating: isRepeating)
    }
  }

  /// What comes out at the receiver's.
  private mutating func received(_ packet: RTPPacket?, at time: Int) -> [String?] {
    packet.map { receiver.receive($0, at: .ms(Double(time))).map(\.text) } ?? []
  }

  @Test mutating func eachSecondPacketMayBeLost() {
    var texts: [String?] = []
    for number in 65500..<65600 {
      let packet = packet(number)
      if number.isMultiple(of: 2) { texts += received(packet, at: number * 20) }
    }
    #expect(texts == (65500..<65599).map { "frame \($0)" })
  }

  @Test mutating func ofTwoLostTheSecondIsThere() {
    _ = received(packet(1), at: 20)
    _ = (packet(2), packet(3))
    #expect(received(packet(4), at: 80) == ["frame 3", "frame 4"])
  }

  @Test mutating func withoutRoomNothingIsRepeated() {
    _ = received(packet(1), at: 20)
    _ = packet(2, isRepeating: false)
    let third = packet(3, isRepeating: false)
    #expect(third?.payloadLength == "frame 3".utf8.count + 1)
    #expect(received(third, at: 60) == ["frame 3"])
    _ = packet(4)
    #expect(received(packet(5), at: 100) == ["frame 4", "frame 5"])
  }

  /// What a block's header cannot say is left out: too long ago, as after silence, too long, or more than a packet holds.
  @Test(arguments: [(20_000, 20), (960, 1024), (960, 700)])
  mutating func whatDoesNotFitIsLeftOut(ticks: Int, length: Int) {
    _ = packet(1, ticks: ticks, length: length)
    #expect(packet(2, ticks: ticks, length: length)?.payloadLength == length + 1)
  }

  @Test mutating func whoTakesNoRedundancyGetsTheRest() {
    _ = packet(1)
    let alone = packet(2)?.withoutRedundancy()
    #expect(alone?.text == "frame 2" && alone?.payloadType == Self.opus)
    #expect(alone?.reparsed?.text == "frame 2")
  }
}
