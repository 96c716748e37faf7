import Bitstream
import MediaCore
import Testing

@testable import RTP

/// What LiveKit's clients put behind frames, and its server leaves behind the lower layers of VP9.
@Suite struct FrameTrailerTests {
  /// A time of eight bytes and a number of four.
  private static let elements: [UInt8] = [1, 8, 0, 6, 0x0a, 0x24, 0x18, 0x1e, 0x40, 0, 2, 4, 0, 0, 0, 42]
  private static let trailer = elements.map { ~$0 } + [~UInt8(elements.count + 5)] + Array("LKTS".utf8)
  /// A whole frame of a lower layer, and the beginning of one.
  private static let end: [UInt8] = [0xac, 1, 0, 0, 0x82, 9]
  private static let middle: [UInt8] = [0xa8, 1, 0, 0, 0x82, 9]

  private func length(_ payload: [UInt8]) -> Int { payload.withUnsafeBytes { FrameTrailer.length(in: $0) } }

  private func received(_ payload: [UInt8], _ codec: VideoCodec = .vp9, padding: UInt8 = 0) throws -> RTPPacket {
    var receiver = RTPReceiver(configuration: .init(clockRate: 90_000, formats: [PayloadType(98): .video(codec)]))
    let packet = RTPPacket(
      payloadType: PayloadType(98), sequenceNumber: SequenceNumber(1), timestamp: 3000, ssrc: SSRC(10),
      payload: payload, padding: padding)
    return try #require(receiver.receive(packet, at: MediaTime(nanoseconds: 0)).first)
  }

  @Test func isCutOffBehindALayer() throws {
    for padding in [UInt8(0), 7] {
      let packet = try received(Self.end + Self.trailer, padding: padding)
      #expect(packet.payload == Self.end)
      // Whoever reads the bytes finds the same.
      let read = try RTPPacket(parsing: packet.withUnsafeBytes { PacketBuffer(copying: $0) })
      #expect(read.payload == Self.end && read.paddingLength == Self.trailer.count + Int(padding))
    }
  }

  @Test func allElseStays() throws {
    for payload in [Self.end, Self.middle + Self.trailer, Self.end + Self.trailer + [0]] {
      #expect(try received(payload).payload == payload)
    }
    #expect(try received(Self.end + Self.trailer, .vp8).payload == Self.end + Self.trailer)
    // Too much for padding.
    #expect(try received(Self.end + Self.trailer, padding: 240).payload == Self.end + Self.trailer)
  }

  @Test func isOneOnlyWhereItsElementsFit() {
    #expect(length(Self.end + Self.trailer) == Self.trailer.count)
    var other = Self.end + Self.trailer
    other[Self.end.count + 1] ^= 1
    #expect(length(other) == 0)
    #expect(length(Self.trailer) == 0 && length(Array("LKTS".utf8)) == 0 && length([]) == 0)
    for count in 0..<Self.trailer.count { #expect(length(Array(Self.trailer.suffix(count))) == 0, "\(count)") }
  }
}
