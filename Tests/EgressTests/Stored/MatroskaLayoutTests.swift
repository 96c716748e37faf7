import Testing

@testable import Egress
@testable import MediaBridge

/// Elements of a Matroska file, as far as its layout needs them.
private enum Made {
  static let unknownSize: [UInt8] = [0x01] + [UInt8](repeating: 0xff, count: 7)

  static func element(_ id: [UInt8], _ content: [UInt8], size: [UInt8]? = nil) -> [UInt8] {
    id + (size ?? [0x40 | UInt8(content.count >> 8), UInt8(content.count & 0xff)]) + content
  }

  static func number(_ id: [UInt8], _ value: Int) -> [UInt8] {
    element(id, [UInt8(value >> 8 & 0xff), UInt8(value & 0xff)])
  }

  /// Of track 1, so many milliseconds after its cluster.
  static func block(_ milliseconds: Int) -> [UInt8] {
    element([0xa3], [0x81, UInt8(milliseconds >> 8), UInt8(milliseconds & 0xff), 0x80] + [1, 2, 3, 4])
  }

  static func cluster(at milliseconds: Int, _ blocks: [[UInt8]], isOpen: Bool = false) -> [UInt8] {
    let content = number([0xe7], milliseconds) + blocks.joined()
    return element([0x1f, 0x43, 0xb6, 0x75], content, size: isOpen ? unknownSize : nil)
  }

  /// The header, and a segment that nobody has finished.
  static func file(_ contents: [UInt8]...) -> [UInt8] {
    let track = element([0x16, 0x54, 0xae, 0x6b], element([0xae], number([0xd7], 1)))
    let segment = element([0x18, 0x53, 0x80, 0x67], track + contents.joined(), size: unknownSize)
    return element([0x1a, 0x45, 0xdf, 0xa3], []) + segment
  }
}

@Suite("What a Matroska file holds")
struct MatroskaLayoutTests {
  private static let first = Made.cluster(at: 0, [Made.block(0), Made.block(40)])
  private static let open = Made.file(first, Made.cluster(at: 1000, [Made.block(0), Made.block(50)], isOpen: true))

  private func stored(_ bytes: [UInt8]) -> StoredMedia? { StoredMedia(of: ByteSource(bytes)) }

  @Test func aFileLastsToTheEndOfItsNewestBlock() {
    let whole = Made.file(Self.first, Made.cluster(at: 1000, [Made.block(0), Made.block(40)]))
    #expect(stored(whole) == StoredMedia(end: Int64(whole.count), length: .milliseconds(1080)))
    #expect(stored(Self.open) == StoredMedia(end: Int64(Self.open.count), length: .milliseconds(1090)))
  }

  /// The newest frame may come half a second after one that was held, and nobody knows how long it stands.
  @Test func aBlockLastsAsLongAsTheShortest() {
    let held = Made.cluster(at: 0, [Made.block(0), Made.block(40), Made.block(80), Made.block(580)])
    #expect(stored(Made.file(held))?.length == .milliseconds(620))
  }

  @Test func aBlockSaysHowLongItLasts() {
    let group = Made.element([0xa0], Made.element([0xa1], [0x81, 0, 30, 0, 9]) + Made.number([0x9b], 25))
    #expect(stored(Made.file(Made.cluster(at: 0, [group])))?.length == .milliseconds(55))
  }

  /// Wherever a disk is full, the file ends with the block before that.
  @Test func aPartOfABlockIsCut() {
    let block = Made.block(50).count
    for cut in 1..<block { #expect(stored(Self.open.dropLast(cut))?.end == Int64(Self.open.count - block)) }
    let index = Made.element([0x1c, 0x53, 0xbb, 0x6b], [1, 2, 3, 4])
    let file = Made.file(Self.first, index)
    for cut in 1..<index.count { #expect(stored(file.dropLast(cut))?.end == Int64(file.count - index.count)) }
  }

  /// A muxer that has no room for a block still writes the cluster's size.
  @Test func aClusterThatEndsBehindTheFileGetsItsRealSize() throws {
    let whole = Made.file(Self.first)
    let kept = try #require(stored(whole.dropLast(2)))
    var mended = Array(whole[..<Int(kept.end)])
    for correction in kept.corrections {
      mended.replaceSubrange(
        Int(correction.place)..<Int(correction.place) + correction.bytes.count, with: correction.bytes)
    }
    #expect(mended == Made.file(Made.cluster(at: 0, [Made.block(0)])))
  }

  @Test func aFileWithoutMediaIsLeftAlone() {
    #expect(stored(Made.file()) == nil)
    #expect(stored(Made.element([0x1a, 0x45, 0xdf, 0xa3], [])) == nil)
  }

  /// A file is read by who did not write it: nothing in it may stop the program, or take it out of the file.
  @Test func garbageIsNoTrap() {
    for place in Self.open.indices {
      for byte in [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255)] {
        var changed = Self.open
        changed[place] = byte
        #expect(stored(changed).map { (0...Int64(changed.count)).contains($0.end) && $0.length >= .zero } ?? true)
      }
    }
  }

  private func stored(_ bytes: ArraySlice<UInt8>) -> StoredMedia? { stored(Array(bytes)) }
}
