import Testing

@testable import Egress

/// MPEG-TS by its packets.
@Suite struct TransportStreamTests {
  private static let (map, video, audio): (UInt16, UInt16, UInt16) = (0x20, 0x41, 0x42)

  private func packet(_ stream: UInt16, start: Bool = true, keyframe: Bool = false, _ body: [UInt8] = []) -> [UInt8] {
    var packet: [UInt8] = [0x47, UInt8(stream >> 8) | (start ? 0x40 : 0), UInt8(stream & 0xff), keyframe ? 0x37 : 0x17]
    if keyframe { packet += [1, 0x40] }
    packet += body
    return packet + Array(repeating: 0xff, count: 188 - packet.count)
  }

  /// Two programs, and the network's packets.
  private var association: [UInt8] {
    packet(0, [0, 0, 0xb0, 21, 0, 1, 0xc1, 0, 0, 0, 0, 0xe0, 0x10, 0, 1, 0xe0, 0x20, 0, 2, 0xe0, 0x30, 0, 0, 0, 0])
  }

  private func take(_ packet: [UInt8], _ stream: inout TransportStream, at milliseconds: Int = 0) -> SegmentPiece {
    packet.withUnsafeBytes { stream.take($0, at: .milliseconds(milliseconds)) }
  }

  @Test func segmentsBeginWithKeyframesOfVideo() {
    var stream = TransportStream(hasVideo: true)
    #expect(take(packet(Self.audio), &stream) == .more, "audio in front of the first frame")
    #expect(
      take(packet(Self.video, keyframe: true), &stream, at: 40)
        == .frame(.milliseconds(40), isKeyframe: true, lasting: nil))
    #expect(take(packet(Self.video, start: false), &stream, at: 40) == .more)
    #expect(take(packet(Self.audio), &stream, at: 60) == .more)
    #expect(take(packet(Self.video), &stream, at: 80) == .frame(.milliseconds(80), isKeyframe: false, lasting: nil))
  }

  /// Such as one at a change of scene, from which no decoder can begin.
  @Test func aFrameWithoutParameterSetsIsNoKeyframeOfH264() {
    var stream = TransportStream(hasVideo: true)
    let (sets, none): ([UInt8], [UInt8]) = (
      [0, 0, 1, 0x09, 0x10, 0, 0, 0, 1, 0x67, 0x42], [0, 0, 1, 0x09, 0x10, 0, 0, 1, 0x65]
    )
    for (body, isKeyframe) in [(sets, true), (none, false), (sets, true)] {
      let piece = take(packet(Self.video, keyframe: true, body), &stream)
      #expect(piece == .frame(.zero, isKeyframe: isKeyframe, lasting: nil))
    }
  }

  @Test func withoutVideoTheyBeginWithAnyAudio() {
    var stream = TransportStream(hasVideo: false)
    #expect(take(packet(Self.audio), &stream, at: 20) == .frame(.milliseconds(20), isKeyframe: true, lasting: nil))
    #expect(take(packet(Self.audio, start: false), &stream, at: 20) == .more)
  }

  @Test func theTablesStandInFrontOfEachAndNowhereElse() {
    var stream = TransportStream(hasVideo: true)
    let map = packet(Self.map, [0, 2])
    for table in [association, map, packet(0x30, [0, 2]), packet(0x11), packet(0x1fff)] {
      #expect(take(table, &stream) == .apart)
    }
    #expect(take(packet(0x10), &stream) == .apart, "the network's, which is no program's")
    for turn in 0..<20 {
      let head = stream.head()
      #expect(head.count == 3 * 188)
      #expect(Array(head[..<3]) == [0x47, 0x40, 0] && Array(head[188..<191]) == [0x47, 0x40, 0x20])
      #expect(stride(from: 3, to: head.count, by: 188).allSatisfy { Int(head[$0]) == 0x10 | turn % 16 })
      #expect(Array(head[192..<376]) == Array(map[4...]))
    }
  }

  @Test func aTableOfSeveralPacketsStaysWhole() {
    var stream = TransportStream(hasVideo: true)
    _ = take(association, &stream)
    for _ in 0..<2 {
      _ = take(packet(Self.map, [0, 2]), &stream)
      _ = take(packet(Self.map, start: false), &stream)
    }
    #expect(stream.head().count == 3 * 188)
  }

  @Test func whatIsNoPacketIsPassedOn() {
    var stream = TransportStream(hasVideo: true)
    for bytes in [[], [0x47], Array(repeating: UInt8(0), count: 188)] { #expect(take(bytes, &stream) == .more) }
    // What the table says of itself is not believed.
    for (field, length) in [(UInt8(255), UInt8(255)), (180, 4), (0, 0)] {
      #expect(take(packet(0, [field, 0, 0xbf, length]), &stream) == .apart)
    }
  }
}
