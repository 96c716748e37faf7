/// What a completed MP4 file lists at its end: where fragments begin at which a player may start (8.8.9 to 8.8.11).
struct MP4FragmentList {
  private let source: ByteSource
  /// Of a track each.
  private let lists: [MP4Box]

  /// nil for a file that has none.
  init?(of source: ByteSource) {
    // The last box in it, which is the file's last, says how long all of it is.
    guard source.number(at: source.count - 12, 4) == 0x6d66_726f,  // "mfro"
      let size = source.number(at: source.count - 4, 4),
      let list = MP4Box.boxes(of: source, from: source.count - Int64(size), to: source.count).first,
      list.type == "mfra"
    else { return nil }
    (self.source, lists) = (source, list.children(of: source).filter { $0.type == "tfra" })
  }

  /// Where to begin to find at least so many of the newest fragments; nil where fewer are listed of each track.
  func start(ofNewest count: Int) -> Int64? { lists.compactMap { place(of: count, in: $0) }.max() }

  /// Where the fragment begins that is the `count`th from the end of a list.
  private func place(of count: Int, in list: MP4Box) -> Int64? {
    guard let version = list.versionAndFlags(of: source)?.version,
      let widths = list.number(at: 8, 4, of: source), let entries = list.number(at: 12, 4, of: source),
      entries >= UInt64(count)
    else { return nil }
    // Time and place, then three numbers of one to four bytes each.
    let width = version == 1 ? 8 : 4
    let numbers = [0, 2, 4].reduce(3) { $0 + Int(widths >> UInt64($1) & 3) }
    let entry = 16 + (Int64(entries) - Int64(count)) * Int64(2 * width + numbers)
    return list.number(at: entry + Int64(width), width, of: source).flatMap { Int64(exactly: $0) }
  }
}
