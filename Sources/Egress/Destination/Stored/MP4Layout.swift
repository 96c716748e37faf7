/// Where the fragments of an MP4 file lie, and how long they last.
///
/// Two ways of writing are known: a fragment's index (`moof`) goes before its data (`mdat`), or behind them, as when the
/// muxer makes an ordinary file of it in the end.
struct MP4Layout {
  private let source: ByteSource
  /// Boxes at the top, up to the last one whose fragment is whole; of a completed file not those of fragments in the
  /// middle.
  private let boxes: [MP4Box]
  private let index: MP4Box

  /// A few are enough to meet each track: fragments of one track may alternate with those of another.
  private static let newest = 16

  /// nil for a file that has no index.
  init?(of source: ByteSource) {
    let all = Self.boxes(of: source).prefix { !$0.isOpen }
    guard all.first?.type == "ftyp", let index = all.first(where: { $0.type == "moov" }) else { return nil }
    let dataComesFirst = all.first { $0.type == "mdat" || $0.type == "moov" }?.type == "mdat"
    let unfinished: Set = dataComesFirst ? ["free", "mdat"] : ["moof"]
    guard let last = all.lastIndex(where: { !unfinished.contains($0.type) }), all[last].end >= index.end else {
      return nil
    }
    self.source = source
    self.index = index
    boxes = Array(all[...last])
  }

  /// A file of a day has hundreds of thousands of them, all over a disk that may be slow: one that was completed lists
  /// where the newest fragments are, and what is between these and the first one is passed over.
  private static func boxes(of source: ByteSource) -> [MP4Box] {
    let head = MP4Box.boxes(of: source, from: 0, to: source.count) { $0.type == "moof" }
    guard let last = head.last else { return [] }
    if let start = MP4FragmentList(of: source)?.start(ofNewest: newest), start > last.start {
      let tail = MP4Box.boxes(of: source, from: start, to: source.count)
      let isWhole = tail.first?.type == "moof" && tail.last?.end == source.count
      if isWhole, tail.count(where: { $0.type == "moof" }) >= newest { return head + tail }
    }
    return head + MP4Box.boxes(of: source, from: last.end, to: source.count)
  }

  var media: StoredMedia? {
    let lengths = tracks().values.compactMap { StoredMedia.duration(ticks: $0.end, scale: $0.scale) }
    return StoredMedia(end: boxes.last?.end ?? 0, length: lengths.max() ?? .zero)
  }

  /// By number; the newest fragment of each that has any.
  private func tracks() -> [UInt64: MP4Track] {
    var tracks = MP4Track.all(in: index, of: source)
    var missing = Set(tracks.keys)
    for fragment in boxes.filter({ $0.type == "moof" }).suffix(Self.newest).reversed() where !missing.isEmpty {
      for part in fragment.children(of: source) where part.type == "traf" {
        guard let piece = MP4Fragment(part, of: source, tracks), missing.remove(piece.track) != nil else { continue }
        let known = tracks[piece.track]?.end ?? 0
        tracks[piece.track]?.end = max(known, piece.start &+ piece.duration)
      }
    }
    return tracks
  }
}
