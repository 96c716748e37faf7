import GStreamerKit
import Testing

@testable import Bitstream

/// A stream that is made black: the keyframe of ours, repeats of it, and the sender's next keyframe.
@Suite struct BlackKeyframeTests {
  static let cases: [StreamCase] = [
    .vp8, .vp8.sized(638, 358), .vp8.sized(34, 18), .vp8.sized(16, 16), .vp8.sized(1280, 720), .vp8Layers, .vp8Hidden,
    .vp9, .vp9.sized(638, 358), .vp9.sized(34, 18), .vp9.sized(16, 70), .vp9.sized(70, 16), .vp9.sized(1280, 720),
    .vp9Layers, .vp9SuperFrames, .vp9FullRange,
    .x264Baseline, .x264Baseline.sized(638, 358), .x264Baseline.sized(34, 18), .x264Baseline.sized(16, 48),
    .x264Main, .x264Main.sized(638, 358), .x264Main.sized(34, 18), .x264Main.sized(16, 48), .x264High,
    .x264High.sized(1280, 720), .x264FullRange, .openH264, .openH264.sized(638, 358),
  ]

  @Test(arguments: cases) func isBlackAndTheNextKeyframeIsNotHarmed(_ test: StreamCase) async throws {
    let units = try await Video.units(test)
    let mixed = try units.blackened(after: 10, repeats: 3, test.codec)
    let black = try Video.blackDigest(test)
    for decoder in test.decoders {
      let plain = try await Video.decode(units, by: decoder)
      let decoded = try await Video.decode(mixed, by: decoder)
      let shown = plain.filter { $0.number < 10 }.map(\.digest) + [Int](repeating: black, count: 4)
      #expect(decoded.map(\.digest) == shown + plain.map(\.digest), "\(decoder)")
    }
  }

  /// A mute right behind a keyframe, and one right behind the other: an IDR picture beside an IDR picture.
  @Test(arguments: [StreamCase.x264Main, .openH264]) func keyframesMayStandSideBySide(_ test: StreamCase) async throws {
    let units = try await Video.units(test)
    var maker = try #require(RepeatFrameMaker(codec: test.codec))
    maker.follow(units[0])
    let first = try #require(maker.blackUnit(like: units[0]))
    maker.follow(first)
    let second = try #require(maker.blackUnit(like: units[0]))
    #expect(try [units[0], first, second].map { try $0.idrID() }.adjacentPairsDiffer)
    let black = try Video.blackDigest(test)
    for decoder in test.decoders {
      let plain = try await Video.decode(units, by: decoder).map(\.digest)
      let decoded = try await Video.decode([units[0], first, second] + units, by: decoder).map(\.digest)
      #expect(decoded == [plain[0], black, black] + plain, "\(decoder)")
    }
  }

  /// The size of the frame that is shown last counts, wherever in the stream it was said.
  @Test func vp9FramesOfAnotherSizeCount() async throws {
    let test = StreamCase.vp9
    var maker = try #require(RepeatFrameMaker(codec: .vp9))
    for unit in try await Video.units(test).prefix(3) { maker.follow(unit) }
    // An inter frame, shown, that brings a size of its own: 32x16.
    var writer = BitWriter()
    writer.bits(0b10_00_0_1_1_1, 8)
    writer.bits(0b0000_0001, 8)
    writer.bits(0, 3 * 4 + 3)
    writer.bits(31, 16)
    writer.bits(15, 16)
    writer.bytes.withUnsafeBytes { maker.follow($0) }
    let black = try #require(maker.blackUnit(like: try await Video.units(test)[0]))
    let decoded = try await Video.decode([black], by: "vp9dec")
    #expect(decoded.map(\.digest) == [try Video.blackDigest(test.sized(32, 16))])
  }

  @Test func whatCannotBeWrittenIsRefused() async throws {
    for test in [StreamCase.vp9Profile1, .x264High444] {
      var maker = try #require(RepeatFrameMaker(codec: test.codec))
      #expect(maker.blackKeyframe() == nil)
      for unit in try await Video.units(test).prefix(3) { maker.follow(unit) }
      #expect(maker.blackKeyframe() == nil, "\(test)")
    }
  }
}

extension RepeatFrameMaker {
  func blackUnit(like unit: Unit) -> Unit? {
    blackKeyframe().map { Unit(bytes: $0, caps: unit.caps, isDelta: false) }
  }
}

extension Unit {
  fileprivate func idrID() throws -> Int? {
    let (sequence, picture) = try parameterSets()
    return try bytes.withUnsafeBytes { bytes in
      let nal = try #require(H264NALUnits(bytes, lengthSize: 4).first { H264NALType(firstByte: $0[0]) == .idrSlice })
      return try H264SliceHeader(nal) { _ in (sequence, picture) }.idrID
    }
  }
}

extension [Int?] {
  fileprivate var adjacentPairsDiffer: Bool { !contains(nil) && zip(self, dropFirst()).allSatisfy { $0 != $1 } }
}

extension [Unit] {
  /// The first `count` units, a black keyframe, repeats of that, and the whole stream.
  func blackened(after count: Int, repeats: Int, _ codec: VideoCodec) throws -> [Unit] {
    var maker = try #require(RepeatFrameMaker(codec: codec))
    for unit in prefix(count) { maker.follow(unit) }
    let black = try #require(maker.blackUnit(like: self[0]))
    maker.follow(black)
    let repeated = try #require(maker.repeatFrame())
    #expect(repeated.isLastShown)
    let more = Unit(bytes: repeated.bytes, caps: self[0].caps, isDelta: true, isRepeat: true)
    return self[..<count] + [black] + [Unit](repeating: more, count: repeats) + self
  }
}
