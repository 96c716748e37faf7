import Testing

@testable import Egress

/// Fragmented MP4 by its boxes.
@Suite struct FragmentedMP4Tests {
  private typealias Made = MadeMP4
  private static let data = Made.box("mdat", Array(repeating: 7, count: 20))

  /// Of a track whose samples are no keyframes unless their fragment says so.
  private static func track(_ number: Int, _ handler: String, scale: Int) -> (entry: [UInt8], preset: [UInt8]) {
    let zero = Made.word(0)
    let header = Made.box("tkhd", zero + zero + zero + Made.word(number))
    let time = Made.box("mdhd", zero + zero + zero + Made.word(scale) + zero)
    let kind = Made.box("hdlr", zero + zero + Array(handler.utf8))
    let preset = [zero, Made.word(number), Made.word(1), Made.word(40), zero, Made.word(0x1_0000)].flatMap { $0 }
    return (Made.box("trak", header + Made.box("mdia", time + kind)), Made.box("trex", preset))
  }

  private static let index: [UInt8] = {
    let (audio, video) = (track(1, "soun", scale: 48_000), track(2, "vide", scale: 1000))
    return Made.box("moov", audio.entry + video.entry + Made.box("mvex", audio.preset + video.preset))
  }()

  /// Two samples of the usual length.
  private static func fragment(_ track: Int, at start: Int, isKeyframe: Bool = false) -> [UInt8] {
    let run = Made.word(isKeyframe ? 4 : 0) + Made.word(2) + (isKeyframe ? Made.word(0x200_0000) : [])
    let header = Made.box("tfhd", Made.word(0) + Made.word(track))
    let boxes = header + Made.box("tfdt", Made.word(0) + Made.word(start)) + Made.box("trun", run)
    return Made.box("moof", Made.box("mfhd", Made.word(0) + Made.word(1)) + Made.box("traf", boxes))
  }

  private func take(_ bytes: some Sequence<UInt8>, _ stream: inout FragmentedMP4) -> SegmentPiece {
    Array(bytes).withUnsafeBytes { stream.take($0, at: nil) }
  }

  private func began(_ hasVideo: Bool) -> FragmentedMP4 {
    var stream = FragmentedMP4(hasVideo: hasVideo)
    #expect(take(Made.head, &stream) == .apart && take(Self.index, &stream) == .apart)
    return stream
  }

  @Test func whatComesFirstGoesInFrontOfEach() {
    var stream = began(true)
    #expect(stream.initialization == Made.head + Self.index && stream.head() == [])
    #expect(take(Made.box("mfra"), &stream) == .apart, "an index of a whole file, which there is none of")
  }

  @Test func segmentsBeginWithKeyframesOfVideo() {
    var stream = began(true)
    let first = take(Self.fragment(2, at: 0, isKeyframe: true), &stream)
    #expect(first == .frame(.zero, isKeyframe: true, lasting: .milliseconds(80)))
    #expect(take(Self.data, &stream) == .more)
    #expect(take(Self.fragment(1, at: 0), &stream) == .more && take(Self.data, &stream) == .more)
    let next = take(Self.fragment(2, at: 80), &stream)
    #expect(next == .frame(.milliseconds(80), isKeyframe: false, lasting: .milliseconds(80)))
  }

  @Test func withoutVideoTheyBeginWithAnyAudio() {
    var stream = began(false)
    let piece = take(Self.fragment(1, at: 96_000), &stream)
    #expect(piece == .frame(.seconds(2), isKeyframe: true, lasting: .nanoseconds(1_666_666)))
  }

  @Test func aBoxMayComeInPieces() {
    var stream = began(true)
    #expect(take(Self.data.prefix(8), &stream) == .more)
    // What is in it is no box, whatever it looks like.
    #expect(take(Made.box("moof", [1, 2]), &stream) == .more && take(Self.data.suffix(10), &stream) == .more)
    let next = take(Self.fragment(2, at: 80), &stream)
    #expect(next == .frame(.milliseconds(80), isKeyframe: false, lasting: .milliseconds(80)))
  }

  @Test func garbageIsNoTrap() {
    for bytes in [Self.index, Self.fragment(2, at: 80, isKeyframe: true)] {
      for cut in stride(from: 0, to: bytes.count, by: 3) {
        var stream = began(true)
        var wrong = Array(bytes[..<cut])
        _ = take(wrong, &stream)
        wrong = bytes
        wrong[cut] ^= 0xff
        stream = began(true)
        _ = take(wrong, &stream)
        _ = take(Self.fragment(2, at: 80), &stream)
      }
    }
  }
}
