import MediaCore
import ParserExercises
import Testing

@testable import Bitstream

/// What comes from the network can be anything: it makes no repeat frame, or a wrong one, and never ends the process.
@Suite struct RepeatGarbageTests {
  private static let cases: [StreamCase] = [.vp8, .vp9, .x264Baseline, .x264Main]

  @Test(arguments: cases) func damagedUnitsDoNotTrap(_ test: StreamCase) async throws {
    let units = Array(try await Video.units(test.sized(64, 48)).prefix(8))
    var intact = try #require(RepeatFrameMaker(codec: test.codec))
    for unit in units.prefix(4) { intact.follow(unit) }
    let record = units[0].caps.bytes("codec_data") ?? []
    var random = SeededRandom(seed: 0x6865_6c64)
    var frames = 0
    for round in 0..<25_000 {
      var maker = intact
      if !record.isEmpty, round % 4 == 0 {
        damage(record, &random).withUnsafeBytes { maker.configure($0) }
      }
      damage(units[round % units.count].bytes, &random).withUnsafeBytes { maker.follow($0) }
      // Writing one takes longer than reading, and for what is intact it is tested elsewhere.
      if round % 32 == 0, maker.repeatFrame() != nil { frames += 1 }
    }
    #expect(frames > 0, "everything was refused: the damage is too great to test anything")
  }

  /// Changed, cut off or made up; changes are mostly in the headers.
  private func damage(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return Array(bytes.prefix(Int.random(in: 0...min(bytes.count, 40), using: &random)))
    case 1: return (0..<Int.random(in: 0..<64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    default:
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<min(bytes.count, 64), using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      return bytes
    }
  }

  @Test func hugeFramesAreRefused() throws {
    var maker = try #require(RepeatFrameMaker(codec: .vp8))
    let keyframe: [UInt8] =
      [0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f] + [UInt8](repeating: 0, count: 16)
    keyframe.withUnsafeBytes { maker.follow($0) }
    #expect(maker.repeatFrame() == nil)
  }
}
