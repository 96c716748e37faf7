import MediaCore
import Testing

@Suite("Packet memory")
struct PacketBufferTests {
  @Test func holdsWhatWasCopiedWithRoomBehind() {
    let buffer = PacketBuffer(copying: [1, 2, 3] as [UInt8])
    #expect(buffer.count == 3)
    #expect(buffer.capacity >= 3 + PacketBuffer.trailer)
    #expect(buffer.withUnsafeBytes { Array($0) } == [1, 2, 3])
    #expect(PacketBuffer(copying: [] as [UInt8]).count == 0)
  }

  @Test func valuesShareMemoryAndCopiesDoNot() {
    let buffer = PacketBuffer(copying: [1, 2, 3] as [UInt8])
    let (same, other) = (buffer, buffer.copy())
    buffer.withUnsafeMutableBytes { $0[0] = 9 }
    #expect(same.withUnsafeBytes { $0[0] } == 9)
    #expect(other.withUnsafeBytes { $0[0] } == 1)
    #expect(same.owner === buffer.owner && other.owner !== buffer.owner)
  }

  @Test func lengthMayChangeWithinCapacity() {
    let buffer = PacketBuffer(capacity: 100)
    #expect(buffer.count == 0)
    buffer.count = 100 + PacketBuffer.trailer
    #expect(buffer.withUnsafeBytes { $0.count } == 100 + PacketBuffer.trailer)
  }
}
