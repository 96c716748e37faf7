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

  static func track(_ values: [UInt8]...) -> [UInt8] { element([0xae], Array(values.joined())) }

  static func cluster(at milliseconds: Int, _ blocks: [[UInt8]], isOpen: Bool = false) -> [UInt8] {
    let content = number([0xe7], milliseconds) + blocks.joined()
    return element([0x1f, 0x43, 0xb6, 0x75], content, size: isOpen ? unknownSize : nil)
  }

  static let tracks = element([0x16, 0x54, 0xae, 0x6b], track(number([0xd7], 1)))

  /// The header, and a segment that nobody has finished.
  static func file(_ contents: [UInt8]..., tracks: [UInt8] = Made.tracks) -> [UInt8] {
    let segment = element([0x18, 0x53, 0x80, 0x67], tracks + contents.joined(), size: unknownSize)
    return element([0x1a, 0x45, 0xdf, 0xa3], []) + segment
  }

  /// Where the list of clusters is in the segment.
  static func seekHead(_ place: Int) -> [UInt8] {
    element(
      [0x11, 0x4d, 0x9b, 0x74],
      element([0x4d, 0xbb], element([0x53, 0xab], [0x1c, 0x53, 0xbb, 0x6b]) + number([0x53, 0xac], place)))
  }

  /// One that is finished: a cluster each 100 ms, and a list of them.
  /// - Parameter offset: what the list is wrong by.
  static func completed(_ count: Int, offset: Int = 0) -> [UInt8] {
    let head = tracks.count + seekHead(0).count
    var (clusters, cues): ([UInt8], [UInt8]) = ([], [])
    for index in 0..<count {
      let place = number([0xf7], 1) + number([0xf1], head + clusters.count + offset)
      cues += element([0xbb], number([0xb3], index * 100) + element([0xb7], place))
      clusters += cluster(at: index * 100, [block(0), block(40)])
    }
    return file(seekHead(head + clusters.count), clusters, element([0x1c, 0x53, 0xbb, 0x6b], cues))
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

  /// A file of a day has tens of thousands of them, all over the disk.
  @Test func ofManyClustersTheNewestAreRead() {
    let file = Made.completed(100)
    // A cue has 21 bytes.
    let (cluster, list) = (Self.first.count, file.count - Made.element([0x1c, 0x53, 0xbb, 0x6b], []).count - 2100)
    let middle = Int64(list - 99 * cluster)..<Int64(list - 2 * cluster)
    var reads = 0
    let source = ByteSource(count: Int64(file.count)) { start, size in
      if middle.contains(start) { reads += 1 }
      return Array(file[Int(start)..<Int(start) + size])
    }
    #expect(StoredMedia(of: source) == StoredMedia(end: Int64(file.count), length: .milliseconds(9980)))
    #expect(reads == 0, "between the first cluster and the last two")
  }

  @Test(arguments: [(1, 0), (2, 0), (40, 4), (40, -33), (40, 5000)])
  func aListThatIsShortOrWrongIsNotGoneBy(_ count: Int, _ offset: Int) {
    let file = Made.completed(count, offset: offset)
    #expect(stored(file) == StoredMedia(end: Int64(file.count), length: .milliseconds(count * 100 - 20)))
  }

  /// It is to be read for longer than the media lasts.
  @Test func whatIsSaidMakesAFileNoLonger() {
    let text = Made.element([0xa0], Made.element([0xa1], [0x82, 0, 60, 0, 9]) + Made.number([0x9b], 7000))
    let tracks = Made.element(
      [0x16, 0x54, 0xae, 0x6b],
      Made.track(Made.number([0xd7], 1), Made.number([0x83], 1))
        + Made.track(Made.number([0xd7], 2), Made.number([0x83], 0x11)))
    let file = Made.file(Made.cluster(at: 0, [Made.block(0), Made.block(40), text]), tracks: tracks)
    #expect(stored(file) == StoredMedia(end: Int64(file.count), length: .milliseconds(80)))
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
    for file in [Self.open, Made.completed(4)] {
      for place in file.indices {
        for byte in [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255)] {
          var changed = file
          changed[place] = byte
          #expect(stored(changed).map { (0...Int64(changed.count)).contains($0.end) && $0.length >= .zero } ?? true)
        }
      }
    }
  }

  private func stored(_ bytes: ArraySlice<UInt8>) -> StoredMedia? { stored(Array(bytes)) }
}
