import Bitstream
import Testing

@testable import RTP

@Suite("Packets of AV1")
struct AV1PacketTests {
  /// Header and payload of an OBU without a size.
  private struct OBU {
    var header: [UInt8]
    var payload: [UInt8]

    var sized: [UInt8] {
      var size = [UInt8](repeating: 0, count: LEB128.length(of: payload.count))
      _ = size.withUnsafeMutableBytes { LEB128.write(payload.count, to: $0, at: 0) }
      return [header[0] | 2] + header.dropFirst() + size + payload
    }
  }

  private func cut(_ unit: [UInt8], limit: Int) -> [(bytes: [UInt8], isLast: Bool)] {
    var packets: [(bytes: [UInt8], isLast: Bool)] = []
    unit.withUnsafeBytes { unit in
      AV1Packetizer(limit: limit).packetize(unit) { payload in
        var bytes = [UInt8](repeating: 0xee, count: payload.count)
        bytes.withUnsafeMutableBytes { payload.write(to: $0) }
        packets.append((bytes, payload.isLast))
      }
    }
    return packets
  }

  private func join(_ payloads: [[UInt8]]) -> [UInt8]? {
    // In one memory, each behind the other, so that all pointers stay.
    let ends = payloads.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    return payloads.flatMap(\.self).withUnsafeBytes { all in
      let parts = payloads.indices.map { UnsafeRawBufferPointer(rebasing: all[ends[$0]..<ends[$0 + 1]]) }
      guard let assembly = AV1Assembly(parts) else { return nil }
      var bytes = [UInt8](repeating: 0xee, count: assembly.count)
      bytes.withUnsafeMutableBytes { assembly.write(to: $0) }
      return bytes
    }
  }

  @Test(arguments: 0..<200) func whatIsCutIsPutTogether(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let units = (0..<Int.random(in: 1...6, using: &random)).map { _ in randomOBU(&random) }
    let limit = Int.random(in: 32...1400, using: &random)
    let sent: [UInt8] = units.flatMap { $0.sized }
    let packets = cut(hex("12 00") + sent + hex("7a 02 00 00"), limit: limit)
    let lasts: [Bool] = packets.map { $0.isLast }
    #expect(lasts == [Bool](repeating: false, count: packets.count - 1) + [true])
    #expect(packets.allSatisfy { $0.bytes.count <= limit })
    #expect(join(packets.map { $0.bytes }) == sent)
  }

  private func randomOBU(_ random: inout SeededRandom) -> OBU {
    let kinds: [UInt8] = [1, 3, 4, 5, 6, 7]
    let sizes = [0, 1, 20, 127, 128, 300, 5000]
    let size = sizes[Int.random(in: sizes.indices, using: &random)]
    let layer: [UInt8] = random.chance(0.3) ? [UInt8.random(in: 0...3, using: &random) << 5] : []
    let payload = random.bytes(Int.random(in: 0...size, using: &random))
    let first: UInt8 = kinds[Int.random(in: kinds.indices, using: &random)] << 3 | (layer.isEmpty ? 0 : 4)
    return OBU(header: [first] + layer, payload: payload)
  }

  /// A sequence header and a keyframe of 60 bytes in packets of 40: N, then Z.
  @Test func theHeaderSaysWhatIsInAPacket() {
    let frame = [0x10] + [UInt8](repeating: 7, count: 59)
    let packets = cut(hex("12 00 0a 02 00 00 32 3c") + frame, limit: 40).map(\.bytes)
    #expect(packets.count == 2)
    #expect(Array(packets[0].prefix(7)) == hex("68 03 08 00 00 30 10") && packets[0].count == 40)
    #expect(Array(packets[1].prefix(2)) == hex("90 07") && packets[1].count == 27)
    // A delta frame alone.
    #expect(cut(hex("12 00 32 02 30 55"), limit: 40).map(\.bytes) == [hex("10 30 30 55")])
  }

  @Test(arguments: [
    // Lengths before each (W is 0), and a size that was left in.
    ("00 03 30 30 55 02 30 10", "32 02 30 55 32 01 10"), ("10 32 02 30 55", "32 02 30 55"),
    // A delimiter.
    ("20 02 12 00 30 30 55", "32 02 30 55"), ("", ""),
    // Cut off, fewer than were counted, a size that is wrong, the end missing, the beginning missing, no header.
    ("00 09 30 30", nil), ("20 01 30", nil), ("10 32 03 30 55", nil), ("50 30 30", nil), ("90 30", nil),
    ("10 b0 30", nil),
    ("10 34", nil), ("00 80", nil),
  ])
  func payloadsOfOthersAreRead(payload: String, expected: String?) {
    #expect(join([hex(payload)]) == expected.map(hex))
  }

  @Test func apartFromItsFirstOrLastPacketAUnitIsNone() {
    let packets = cut([0x32, 0xac, 2] + [UInt8](repeating: 9, count: 300), limit: 64).map(\.bytes)
    #expect(packets.count == 5 && join(packets) != nil)
    #expect(join(Array(packets.dropFirst())) == nil && join(Array(packets.dropLast())) == nil)
  }

  @Test(arguments: 0..<300) func garbageIsSurvived(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<20 {
      let garbage = (0..<3).map { _ in random.bytes(Int.random(in: 0...40, using: &random)) }
      for payload in join(garbage).map({ cut($0, limit: 33) }) ?? [] { #expect(payload.bytes.count <= 33) }
      _ = cut(garbage[0], limit: 0)
    }
  }

  /// They would take more memory than they have bytes.
  @Test func tinyUnitsWithoutEndAreNoFrame() {
    let units = [0] + (0..<600).flatMap { _ -> [UInt8] in [1, 8] }
    #expect(join(Array(repeating: units, count: 10))?.count == 6000 * 2)
    #expect(join(Array(repeating: units, count: 30)) == nil)
    #expect(join(Array(repeating: [UInt8](repeating: 0, count: 1200), count: 30)) == [])
  }

  @Test(arguments: [
    // A delimiter, a sequence header and a keyframe that is shown; a still picture.
    ("12 00 0a 01 00 32 01 10", true), ("0a 01 18 32 01 00", true),
    // Without the sequence header; a frame between, one that is not shown, one that was there.
    ("32 01 10", false), ("0a 01 00 32 01 30", false), ("0a 01 00 32 01 00", false), ("0a 01 00 1a 01 90", false),
    ("0a 01 00", false), ("0a 01 00 32 00", false), ("0a 05 00", false), ("", false),
  ])
  func keyframesAreFound(unit: String, expected: Bool) {
    #expect(hex(unit).withUnsafeBytes { AV1OBUs($0).startsCodedSequence } == expected)
  }

  @Test(arguments: [0, 1, 127, 128, 16383, 16384, 1 << 21, (1 << 32) - 1])
  func numbersAreAsShortAsCanBe(value: Int) {
    var bytes = [UInt8](repeating: 0xff, count: LEB128.length(of: value))
    let end = bytes.withUnsafeMutableBytes { LEB128.write(value, to: $0, at: 0) }
    #expect(end == bytes.count && (bytes.count == 1 || bytes[bytes.count - 1] != 0))
    let read = bytes.withUnsafeBytes { LEB128.read($0, at: 0) }
    #expect(read?.value == value && read?.length == bytes.count)
    #expect(bytes.dropLast().withUnsafeBytes { LEB128.read($0, at: 0) } == nil)
  }
}
