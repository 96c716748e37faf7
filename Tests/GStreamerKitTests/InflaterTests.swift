import Foundation
import GStreamerKit
import Testing

/// Raw deflate as zlib makes it, and what is none.
@Suite struct InflaterTests {
  private static let text = String(repeating: "Tea for two, and two for tea. ", count: 8)
  private static let deflated: [UInt8] = [
    0x0b, 0x49, 0x4d, 0x54, 0x48, 0xcb, 0x2f, 0x52, 0x28, 0x29, 0xcf, 0xd7, 0x51, 0x48, 0xcc, 0x4b, 0x01, 0x31, 0x20,
    0x02, 0xa9, 0x89, 0x7a, 0x0a, 0x21, 0xc3, 0x4e, 0x16, 0x00,
  ]

  /// What is read until nothing comes, and why nothing does.
  private func read(_ inflater: Inflater) -> (pieces: [Data], end: Inflater.Step) {
    var pieces: [Data] = []
    while true {
      let step = inflater.next()
      guard case .piece(let piece) = step else { return (pieces, step) }
      pieces.append(piece)
    }
  }

  @Test(arguments: [1, 2, 7, 100]) func whatIsCutAnywhereIsRead(_ size: Int) {
    let inflater = Inflater()
    var (text, ends) = (Data(), [Inflater.Step]())
    for start in stride(from: 0, to: Self.deflated.count, by: size) {
      inflater.add(Data(Self.deflated[start..<min(start + size, Self.deflated.count)]))
      let (pieces, end) = read(inflater)
      text += pieces.reduce(Data(), +)
      ends.append(end)
    }
    #expect(text == Data(Self.text.utf8) && inflater.isOver)
    #expect(ends.last == .end && ends.dropLast().allSatisfy { $0 == .hungry })
  }

  @Test func whatIsWrittenOnIsReadAtOnce() {
    let inflater = Inflater()
    inflater.add(Data([0xca, 0x3b, 0x0c, 0x00, 0x00, 0x00, 0xff, 0xff]))
    #expect(read(inflater).pieces == [Data("né".utf8.prefix(2))] && !inflater.isOver)
    inflater.add(Data([0x5b, 0x59, 0x05, 0x00]))
    let (pieces, end) = read(inflater)
    #expect(pieces == [Data("né".utf8.suffix(1)) + Data("z".utf8)] && end == .end)
  }

  /// 200,000 zeros.
  @Test func piecesAreBoundedHoweverMuchComesOfFewBytes() {
    let begin: [UInt8] = [
      0xed, 0xc1, 0x31, 0x01, 0x00, 0x00, 0x00, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d, 0x06, 0x7f, 0xa0,
    ]
    let end: [UInt8] = [0x80, 0xd7, 0x00]
    let inflater = Inflater()
    inflater.add(Data(begin + [UInt8](repeating: 0, count: 193) + end))
    let (pieces, step) = read(inflater)
    #expect(pieces.allSatisfy { $0.count <= Inflater.size } && pieces.count > 3)
    #expect(pieces.reduce(Data(), +) == Data(count: 200_000) && step == .end)
  }

  @Test func whatIsNoDeflateIsDamaged() {
    let inflater = Inflater()
    #expect(inflater.next() == .hungry)
    inflater.add(Data(repeating: 0xff, count: 100))
    #expect(read(inflater).end == .damaged && inflater.next() == .damaged && !inflater.isOver)
    let followed = Inflater()
    followed.add(Data(Self.deflated) + Data([1]))
    let (pieces, end) = read(followed)
    #expect(pieces.reduce(Data(), +) == Data(Self.text.utf8) && end == .damaged)
  }
}
