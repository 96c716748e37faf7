/// Where the fragments of an MP4 file lie, and how long they last.
///
/// Two ways of writing are known: a fragment's index (`moof`) goes before its data (`mdat`), or behind them, as when the
/// muxer makes an ordinary file of it in the end.
struct MP4Layout {
  private let source: ByteSource
  /// Boxes at the top, up to the last one whose fragment is whole.
  private let boxes: [MP4Box]
  private let index: MP4Box

  /// A few are enough to meet each track: fragments of one track may alternate with those of another.
  private static let newest = 16

  /// nil for a file that has no index.
  init?(of source: ByteSource) {
    let all = MP4Box.boxes(of: source, from: 0, to: source.count).prefix { !$0.isOpen }
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

  var media: StoredMedia? {
    let lengths = tracks().values.compactMap { StoredMedia.duration(ticks: $0.end, scale: $0.scale) }
    return StoredMedia(end: boxes.last?.end ?? 0, length: lengths.max() ?? .zero)
  }

  private struct Track {
    /// Ticks a second.
    var scale: UInt64
    /// Ticks from the file's first moment to the end of the track.
    var end: UInt64
    /// Of a sample whose fragment does not say it.
    var sampleDuration: UInt64 = 0
  }

  /// By number; the newest fragment of each that has any.
  private func tracks() -> [UInt64: Track] {
    var tracks = indexed()
    var missing = Set(tracks.keys)
    for fragment in boxes.filter({ $0.type == "moof" }).suffix(Self.newest).reversed() where !missing.isEmpty {
      for part in fragment.children(of: source) where part.type == "traf" {
        guard let (number, end) = end(of: part, tracks), missing.remove(number) != nil else { continue }
        let known = tracks[number]?.end ?? 0
        tracks[number]?.end = max(known, end)
      }
    }
    return tracks
  }

  /// As the index has them: all there is of an ordinary file, the beginning of a fragmented one.
  private func indexed() -> [UInt64: Track] {
    var tracks: [UInt64: Track] = [:]
    let parts = index.children(of: source)
    for part in parts where part.type == "trak" {
      guard let header = part.child("tkhd", of: source),
        let media = part.child("mdia", of: source)?.child("mdhd", of: source),
        let number = field(of: header, short: 12, long: 20, size: 4),
        let scale = field(of: media, short: 12, long: 20, size: 4),
        let end = media.versionAndFlags(of: source)?.version == 1
          ? media.number(at: 24, 8, of: source) : media.number(at: 16, 4, of: source)
      else { continue }
      tracks[number] = Track(scale: scale, end: end)
    }
    for preset in parts.first(where: { $0.type == "mvex" })?.children(of: source) ?? [] where preset.type == "trex" {
      guard let number = preset.number(at: 4, 4, of: source) else { continue }
      tracks[number]?.sampleDuration = preset.number(at: 12, 4, of: source) ?? 0
    }
    return tracks
  }

  /// A field whose place depends on the box's version, 0 or 1.
  private func field(of box: MP4Box, short: Int64, long: Int64, size: Int) -> UInt64? {
    box.versionAndFlags(of: source).flatMap { box.number(at: $0.version == 1 ? long : short, size, of: source) }
  }

  /// Where a track fragment ends (8.8.7, 8.8.8 and 8.8.12).
  private func end(of fragment: MP4Box, _ tracks: [UInt64: Track]) -> (number: UInt64, end: UInt64)? {
    let parts = fragment.children(of: source)
    guard let header = parts.first(where: { $0.type == "tfhd" }), let number = header.number(at: 4, 4, of: source),
      let flags = header.versionAndFlags(of: source)?.flags, let track = tracks[number],
      let begin = parts.first(where: { $0.type == "tfdt" }),
      let start = begin.versionAndFlags(of: source)?.version == 1
        ? begin.number(at: 4, 8, of: source) : begin.number(at: 4, 4, of: source)
    else { return nil }
    let place = 8 + Int64(flags & 1 != 0 ? 8 : 0) + Int64(flags & 2 != 0 ? 4 : 0)
    let usual = flags & 8 != 0 ? header.number(at: place, 4, of: source) : nil
    return parts.filter { $0.type == "trun" }.reduce((number, start)) { sum, run in
      (number, sum.1 &+ duration(of: run, usual: usual ?? track.sampleDuration))
    }
  }

  private func duration(of run: MP4Box, usual: UInt64) -> UInt64 {
    guard let flags = run.versionAndFlags(of: source)?.flags, let count = run.number(at: 4, 4, of: source) else {
      return 0
    }
    guard flags & 0x100 != 0 else { return count &* usual }
    let first = 8 + Int64(flags & 1 != 0 ? 4 : 0) + Int64(flags & 4 != 0 ? 4 : 0)
    let step = Int64((flags >> 8 & 0xf).nonzeroBitCount * 4)
    let bytes = source.bytes(at: run.body, Int(min(run.end - run.body, 1 << 20)))
    let places = stride(from: first, to: Int64(bytes.count) - 3, by: Int64.Stride(step)).prefix(Int(count))
    return places.reduce(0) { sum, place in
      sum &+ bytes[Int(place)..<Int(place) + 4].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
