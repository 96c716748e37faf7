import GStreamerKit
import Testing

@testable import Bitstream

@Suite struct RepeatFrameTests {
  /// A unit made by us does not show in what the sender's units decode to, shows the frame before it, and is decoded
  /// without complaint: alone behind every unit, and in rows behind a keyframe and behind others.
  @Test(arguments: StreamCase.all) func repeatFramesShowTheFrameBefore(_ test: StreamCase) async throws {
    let units = try await Video.units(test)
    let rows = [0: 2, 7: 1, 13: 5, 21: 40]
    let inRows = try units.repeating(test.codec) { rows[$0] ?? 0 }
    let everywhere = try units.repeating(test.codec) { _ in 1 }
    let inexact = everywhere.count { !$0.isLastShown }
    #expect(test.isExact == (inexact == 0))
    for decoder in test.decoders {
      let plain = try await Video.decode(units, by: decoder)
      #expect(plain.count == Video.count, "\(decoder)")
      #expect(Set(plain.map(\.digest)).count > Video.count * 3 / 4, "frames that do not move prove nothing")
      for mixed in [inRows, everywhere] { try await check(mixed, against: plain, decoder) }
    }
  }

  /// A frame that is no reference may come last: the one before it is repeated, and the row can be continued.
  @Test(arguments: [StreamCase.openH264, .x264Baseline, .x264Main]) func framesThatAreNoReferencesCanBeLast(
    _ test: StreamCase
  ) async throws {
    let units = Array(try await Video.units(test).prefix(6))
    let once = try units.repeating(test.codec) { $0 == 3 ? 2 : 0 }
    var maker = try #require(RepeatFrameMaker(codec: test.codec))
    for unit in once.prefix(6) { maker.follow(unit) }
    let repeated = try #require(maker.repeatFrame())
    #expect(!repeated.isLastShown)
    // The same bytes but for the order, where there is one.
    var more = once[5]
    more.bytes = repeated.bytes
    let mixed = once.prefix(6) + [more] + once.suffix(2)
    for decoder in test.decoders {
      try await check(Array(mixed), against: try await Video.decode(units, by: decoder), decoder)
    }
  }

  /// Decoders forgive some numbers, but not all do: a frame that is no reference has the number of the next one that
  /// is (ITU-T H.264, 7.4.3), and an order behind the last one's.
  @Test(arguments: [StreamCase.openH264, .x264Baseline]) func numbersGoOn(_ test: StreamCase) async throws {
    var maker = try #require(RepeatFrameMaker(codec: .h264))
    for unit in try await Video.units(test).prefix(20) {
      maker.follow(unit)
      let repeated = try #require(maker.repeatFrame())
      let before = try Slice(unit.bytes, unit)
      let slice = try Slice(repeated.bytes, unit)
      #expect(!slice.isReference)
      #expect(slice.header.frameNumber == (before.header.frameNumber + 1) % (1 << before.sequence.frameNumberBits))
      #expect(slice.header.order == (before.sequence.orderBits == nil ? 0 : before.header.order + 1))
    }
  }

  /// The first slice of an access unit.
  private struct Slice {
    var header: H264SliceHeader
    var sequence: H264SequenceParameters
    var isReference: Bool

    init(_ bytes: [UInt8], _ unit: Unit) throws {
      let (sequence, picture) = try unit.parameterSets()
      self.sequence = sequence
      (header, isReference) = try bytes.withUnsafeBytes { bytes in
        let isSlice = { (nal: UnsafeRawBufferPointer) in nal[0] & 31 == 1 || nal[0] & 31 == 5 }
        let nal = try #require(H264NALUnits(bytes, lengthSize: 4).first(where: isSlice))
        return (try H264SliceHeader(nal) { _ in (sequence, picture) }, nal[0] >> 5 & 3 != 0)
      }
    }
  }

  private func check(_ mixed: [Unit], against plain: [DecodedFrame], _ decoder: String) async throws {
    let decoded = try await Video.decode(mixed, by: decoder)
    let expected = expect(plain, mixed)
    #expect(decoded.count == expected.count, "\(decoder)")
    // GStreamer takes the time of a frame that libavcodec shows once more from where it was decoded.
    if decoder != "avdec_vp9" { #expect(decoded.map(\.number) == expected.map(\.number), "\(decoder)") }
    let wrong = zip(decoded, expected).filter { !$1.digests.contains($0.digest) }.map(\.1.number)
    #expect(wrong.isEmpty, "\(decoder): frames \(wrong) of \(mixed.count) differ")
  }

  private struct Expectation {
    var number: Int
    var digests: Set<Int>
  }

  /// What has to be shown at each place: the sender's frames as without the repeat frames, and for one of these the
  /// frame before, or when it says so an earlier one of the last four.
  private func expect(_ plain: [DecodedFrame], _ mixed: [Unit]) -> [Expectation] {
    let shown = Dictionary(uniqueKeysWithValues: plain.map { ($0.number, $0.digest) })
    var earlier: [Int] = []
    var original = -1
    var result: [Expectation] = []
    for (place, unit) in mixed.enumerated() {
      if !unit.isRepeat {
        original += 1
        guard let digest = shown[original] else { continue }
        earlier.append(digest)
        result.append(Expectation(number: place, digests: [digest]))
      } else {
        let digests = unit.isLastShown ? earlier.suffix(1) : earlier.dropLast().suffix(3)
        result.append(Expectation(number: place, digests: Set(digests)))
      }
    }
    return result
  }
}
