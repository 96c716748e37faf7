import ParserExercises
import Testing

@testable import Bitstream

@Suite struct CodingTests {
  @Test func bitsAndExpGolombCodesComeBack() throws {
    var writer = BitWriter()
    let numbers = [0, 1, 2, 3, 7, 8, 255, 256, 3599, 139_264, Int(UInt32.max) - 1]
    for number in numbers {
      writer.unsigned(number)
      writer.signed(number)
      writer.signed(-number)
      writer.bits(number & 31, 5)
    }
    var reader = BitReader(writer.bytes)
    for number in numbers {
      #expect(try reader.unsigned() == number)
      #expect(try reader.signed() == number)
      #expect(try reader.signed() == -number)
      #expect(try reader.bits(5) == number & 31)
    }
    #expect(throws: UnreadableStream.self) {
      while true { _ = try reader.unsigned() }
    }
  }

  /// ITU-T H.264, table 9-2.
  @Test func expGolombCodesAreThoseOfTheStandard() {
    var writer = BitWriter()
    for number in 0...4 { writer.unsigned(number) }
    writer.align(with: true)
    // 1 010 011 00100 00101
    #expect(writer.bytes == [0b1010_0110, 0b0100_0010, 0b1111_1111])
  }

  /// Long runs of ones below a carry are where an arithmetic encoder goes wrong.
  @Test func boolsComeBack() {
    var random = SeededRandom(seed: 6386)
    for bias in [2, 50, 98] {
      let bools = (0..<20_000).map { _ in Int.random(in: 0..<100, using: &random) < bias }
      var encoder = BoolEncoder()
      for bool in bools { encoder.write(bool) }
      let bytes = encoder.finish()
      bytes.withUnsafeBytes { bytes in
        var decoder = BoolDecoder(bytes)
        let decoded = bools.map { _ in decoder.flag() }
        #expect(decoded == bools)
        #expect(!decoder.isPastEnd)
      }
    }
  }

  @Test func emulationPreventionComesOffAgain() {
    let payload: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 9]
    let nal = H264Payload.write(payload, header: 0x61)
    let forbidden = nal.indices.dropLast(2).filter { nal[$0] == 0 && nal[$0 + 1] == 0 && nal[$0 + 2] < 3 }
    #expect(forbidden.isEmpty)
    nal.withUnsafeBytes { #expect(H264Payload.read($0) == payload) }
  }

  @Test func vp9HeadersHaveTheStreamsProfile() throws {
    // A keyframe of each profile as far as it is read: marker, profile, kind, sync code, and zeros for colours and size.
    let keyframes = [
      [0b1000_0010, 0x49, 0x83, 0x42], [0b1010_0010, 0x49, 0x83, 0x42], [0b1001_0010, 0x49, 0x83, 0x42],
      [0b1011_0001, 0x24, 0xc1, 0xa1],
    ].map { (start: [UInt8]) in start + [UInt8](repeating: 0, count: 6) }
    // Profile 3 has one reserved bit more, which does not fit into the byte.
    let expected: [[UInt8]] = [[0b1000_1000], [0b1010_1000], [0b1001_1000], [0b1011_0100, 0]]
    for (keyframe, header) in zip(keyframes, expected) {
      var maker = try #require(RepeatFrameMaker(codec: .vp9))
      keyframe.withUnsafeBytes { maker.follow($0) }
      let repeated = try #require(maker.repeatFrame())
      #expect(repeated.isLastShown)
      // Every slot holds the keyframe: which one is named does not matter.
      #expect(repeated.bytes.count == header.count)
      #expect(repeated.bytes[0] & (header.count == 1 ? 0xf8 : 0xfc) == header[0])
    }
  }

  /// The parts that a stream may leave out or add around what is repeated.
  @Test func nothingIsRepeatedBeforeAKeyframe() throws {
    for codec in [VideoCodec.vp8, .vp9, .h264] {
      var maker = try #require(RepeatFrameMaker(codec: codec))
      #expect(maker.repeatFrame() == nil)
      [UInt8]([0x31, 0x02, 0x00, 0x44, 0x55]).withUnsafeBytes { maker.follow($0) }
      #expect(maker.repeatFrame() == nil)
    }
    #expect(RepeatFrameMaker(codec: .h265) == nil)
    #expect(RepeatFrameMaker(codec: .h265) == nil)
  }

  @Test func slotsKnowTheNewestShownFrame() {
    var slots = ReferenceSlots(count: 3)
    #expect(slots.newestShown == nil)
    slots.store(0b111, isShown: true)
    slots.store(0b010, isShown: false)
    #expect(slots.newestShown?.isLastShown == true)
    slots.store(0b000, isShown: true)
    #expect(slots.newestShown?.isLastShown == false)
    slots.store(0b101, isShown: false)
    #expect(slots.newestShown == nil)
    slots.show(1)
    #expect(slots.newestShown?.slot == 1)
    #expect(slots.newestShown?.isLastShown == true)
  }
}
