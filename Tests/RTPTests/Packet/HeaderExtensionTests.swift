import MediaCore
import Testing

@testable import RTP

@Suite("Header extensions (RFC 8285)")
struct HeaderExtensionTests {
  private func packet(_ block: String) throws -> RTPPacket {
    try RTPPacket(parsing: PacketBuffer(copying: hex("90 60 00 01 00 00 00 01 00 00 00 01 \(block) 55")))
  }
  private func value(_ id: UInt8, _ packet: RTPPacket) -> [UInt8]? { packet.withHeaderExtension(id) { Array($0) } }

  @Test func oneByteFormWithPaddingBetween() throws {
    let packet = try packet("be de 00 02  10 aa 00 00  32 01 02 03")
    #expect(value(1, packet) == [0xaa])
    #expect(value(3, packet) == [1, 2, 3])
    #expect(value(2, packet) == nil)
    #expect(value(0, packet) == nil)
    #expect(packet.payload == [0x55])
  }

  @Test func idFifteenEndsTheOneByteForm() throws {
    #expect(value(1, try packet("be de 00 02  f0 aa 10 bb  00 00 00 00")) == nil)
  }

  @Test func twoByteFormWithAnEmptyElement() throws {
    let packet = try packet("10 00 00 02  14 00 00 15  02 07 08 00")
    #expect(value(0x14, packet) == [])
    #expect(value(0x15, packet) == [7, 8])
  }

  @Test func elementsThatRunOverTheEndAreNotRead() throws {
    #expect(value(1, try packet("be de 00 01  13 aa bb cc")) == nil)
    #expect(value(1, try packet("10 00 00 01  01 03 aa bb")) == nil)
    #expect(value(1, try packet("10 00 00 01  00 00 00 01")) == nil)
    #expect(value(1, try packet("ab cd 00 01  10 aa 00 00")) == nil)
  }

  /// Above the two bits stand those for a mirrored frame and for the camera on the back.
  @Test(arguments: [("40", 0), ("41", 1), ("46", 2), ("4f", 3)])
  func theOrientationIsOfTwoBits(value: String, quarterTurns: Int) throws {
    #expect(try orientation("be de 00 01  40 \(value) 00 00", 4) == quarterTurns)
    #expect(try orientation("be de 00 01  40 \(value) 00 00", 5) == nil)
    #expect(try orientation("be de 00 01  41 \(value) \(value) 00", 4) == nil)
  }

  /// Where a frame does not end, and in bytes that are no packet, there is none to read.
  @Test func theOrientationOfAnythingElseIsNotRead() throws {
    #expect(try orientation("be de 00 01  40 41 00 00", 4, isLast: false) == nil)
    var packet = try packet("be de 00 01  40 41 00 00").withUnsafeBytes(Array.init)
    packet[1] |= 0x80
    for count in 0..<(packet.count - 1) {
      #expect(packet[..<count].withUnsafeBytes { RTPPacket.quarterTurns(in: $0, 4) } == nil)
    }
  }

  private func orientation(_ block: String, _ id: UInt8, isLast: Bool = true) throws -> Int? {
    var bytes = try packet(block).withUnsafeBytes(Array.init)
    bytes[1] = isLast ? bytes[1] | 0x80 : bytes[1] & 0x7f
    return bytes.withUnsafeBytes { RTPPacket.quarterTurns(in: $0, id) }
  }

  @Test func valuesAreWrittenInPlaceOnlyAtTheirLength() throws {
    let packet = try packet("be de 00 01  51 00 00 00")
    let bytes: [UInt8] = [0x12, 0x34]
    #expect(bytes.withUnsafeBytes { packet.setHeaderExtension(5, $0) })
    #expect(packet.headerExtensionInteger(5) == 0x1234)
    #expect(!bytes.prefix(1).withUnsafeBytes { packet.setHeaderExtension(5, $0) })
    #expect(!bytes.withUnsafeBytes { packet.setHeaderExtension(6, $0) })
    #expect(packet.payload == [0x55])
  }

  @Test(arguments: [
    ("be de 00 02  10 aa 21 bb  cc 00 30 dd", UInt8(14)), ("10 00 00 03 01 01 aa 02 02 bb cc 03 01 dd 00 00", 200),
  ])
  func elementsAreRenamedAndRemovedInPlace(block: String, id: UInt8) throws {
    let packet = try packet(block)
    packet.renameHeaderExtensions { $0 == 1 ? id : $0 == 3 ? 3 : nil }
    #expect(value(id, packet) == [0xaa])
    #expect(value(1, packet) == nil)
    #expect(value(2, packet) == nil)
    #expect(value(3, packet) == [0xdd])
    #expect(packet.reparsed?.payload == [0x55])
  }
}
