import Testing

@testable import Egress
@testable import MediaBridge

/// Boxes of an MP4 file, as far as its layout needs them.
enum MadeMP4 {
  static func box(_ type: String, _ content: [UInt8] = [], size: Int? = nil) -> [UInt8] {
    word(size ?? content.count + 8) + Array(type.utf8) + content
  }

  static func word(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 0xff) } }

  /// Of one track of 1000 ticks a second, whose index lasts `ticks`.
  static func index(ticks: Int = 0, usual: Int = 0) -> [UInt8] {
    let header = box("tkhd", word(0) + word(0) + word(0) + word(1))
    let media = box("mdia", box("mdhd", word(0) + word(0) + word(0) + word(1000) + word(ticks)))
    let preset = box("mvex", box("trex", word(0) + word(1) + word(1) + word(usual) + word(0) + word(0)))
    return box("moov", box("trak", header + media) + preset)
  }

  /// A fragment's index: samples from `start` on that last so long each.
  static func fragment(at start: Int, _ durations: [Int]) -> [UInt8] {
    let run = word(0x100) + word(durations.count) + durations.flatMap(word)
    let track = box("tfhd", word(0) + word(1)) + box("tfdt", word(0) + word(start)) + box("trun", run)
    return box("moof", box("traf", track))
  }

  /// Of a file that was completed: the places at which fragments begin.
  static func list(_ places: [Int]) -> [UInt8] {
    let entries = places.flatMap { (place: Int) -> [UInt8] in word(0) + word(place) + [1, 1, 1] }
    let track = box("tfra", word(0) + word(1) + word(0) + word(places.count) + entries)
    return box("mfra", track + box("mfro", word(0) + word(track.count + 24)))
  }

  /// So many fragments of a second each, and the list of them.
  /// - Parameter offset: by how much what is listed is off.
  static func completed(_ fragments: Int, offset: Int = 0) -> [UInt8] {
    var (file, places) = (head + index(), [Int]())
    for number in 0..<fragments {
      places.append(file.count + offset)
      file += fragment(at: 1000 * number, [500, 500])
      file += data
    }
    return file + list(places)
  }

  static let head = box("ftyp", Array("isom".utf8))
  static let data = box("mdat", [UInt8](repeating: 7, count: 50))
  /// Two fragments whose indices are behind their data, the second one 600 ms long.
  static let dataFirst =
    head + box("free") + data + index(ticks: 1000) + box("free") + data + fragment(at: 1000, [300, 300])
  /// Whose size nobody has written yet.
  static let openData = box("mdat", [UInt8](repeating: 7, count: 20), size: 0)
}

@Suite("What an MP4 file holds")
struct MP4LayoutTests {
  private static let indexFirst =
    MadeMP4.head + MadeMP4.index() + MadeMP4.fragment(at: 0, [500, 500]) + MadeMP4.data
    + MadeMP4.fragment(at: 1000, [500, 400])
    + MadeMP4.data
  private static let dataFirst = MadeMP4.dataFirst

  private func stored(_ bytes: [UInt8]) -> StoredMedia? { StoredMedia(of: ByteSource(bytes)) }

  @Test func wholeFragmentsAreKept() {
    let first = stored(Self.indexFirst)
    #expect(first == StoredMedia(end: Int64(Self.indexFirst.count), length: .milliseconds(1900)))
    let second = stored(Self.dataFirst)
    #expect(second == StoredMedia(end: Int64(Self.dataFirst.count), length: .milliseconds(1600)))
  }

  @Test func anOrdinaryFileLastsAsItsIndexSays() {
    let file = MadeMP4.head + MadeMP4.box("free") + MadeMP4.data + MadeMP4.index(ticks: 2500) + MadeMP4.box("uuid")
    #expect(stored(file) == StoredMedia(end: Int64(file.count), length: .milliseconds(2500)))
  }

  /// A day of two tracks has hundreds of thousands of them.
  @Test func ofManyFragmentsTheNewestAreRead() {
    let file = MadeMP4.completed(2000)
    var reads = 0
    let source = ByteSource(count: Int64(file.count)) { start, size in
      reads += 1
      return Array(file[Int(start)..<Int(start) + size])
    }
    #expect(StoredMedia(of: source) == StoredMedia(end: Int64(file.count), length: .seconds(2000)))
    #expect(reads < 1000)
    reads = 0
    let media = MadeMP4.head.count + MadeMP4.index().count + MadeMP4.fragment(at: 0, [500, 500]).count + 8
    #expect(StoredFile.header(of: source) == Array(file[..<media]))
    #expect(reads < 50)
  }

  @Test(arguments: [(3, 0), (40, 4), (40, 1 << 30)])
  func aListThatIsShortOrWrongIsNotGoneBy(_ count: Int, _ offset: Int) {
    let file = MadeMP4.completed(count, offset: offset)
    #expect(stored(file) == StoredMedia(end: Int64(file.count), length: .seconds(count)))
  }

  @Test func aSampleWithoutDurationLastsAsTheTrackSays() {
    let run = MadeMP4.box("trun", MadeMP4.word(0) + MadeMP4.word(3))
    let track =
      MadeMP4.box("tfhd", MadeMP4.word(0) + MadeMP4.word(1)) + MadeMP4.box("tfdt", MadeMP4.word(0) + MadeMP4.word(100))
      + run
    let file = MadeMP4.head + MadeMP4.index(usual: 40) + MadeMP4.box("moof", MadeMP4.box("traf", track)) + MadeMP4.data
    #expect(stored(file)?.length == .milliseconds(220))
  }

  /// Wherever a disk is full, the file ends with the fragment before that.
  @Test func aPartOfAFragmentIsCut() throws {
    for (file, whole) in [
      (Self.indexFirst, MadeMP4.head.count + MadeMP4.index().count),
      (Self.dataFirst, MadeMP4.head.count + MadeMP4.box("free").count + MadeMP4.data.count + MadeMP4.index().count),
    ] {
      for length in whole..<file.count {
        let end = try #require(stored(Array(file[..<length]))).end
        #expect(end <= length && stored(Array(file[..<Int(end)]))?.end == end)
      }
    }
    let open = Self.dataFirst + MadeMP4.box("free") + MadeMP4.openData
    #expect(stored(open)?.end == Int64(Self.dataFirst.count))
  }

  @Test func aFileWithoutIndexIsLeftAlone() {
    #expect(stored(MadeMP4.head + MadeMP4.openData) == nil)
    #expect(stored([]) == nil)
    #expect(stored(Array("a text".utf8)) == nil)
  }

  /// A file is read by who did not write it: nothing in it may stop the program, or take it out of the file.
  @Test func garbageIsNoTrap() {
    var chance = SystemRandomNumberGenerator()
    let listed = MadeMP4.completed(17)
    for (file, places) in [
      (Self.indexFirst, Self.indexFirst.count), (Self.dataFirst, Self.dataFirst.count), (listed, 235),
    ] {
      for place in file.indices.suffix(places) {
        for byte in [0, 1, 0x7f, 0xff, UInt8.random(in: 0...255, using: &chance)] {
          var changed = file
          changed[place] = byte
          #expect(stored(changed).map { (0...Int64(changed.count)).contains($0.end) } ?? true)
        }
      }
    }
  }
}
