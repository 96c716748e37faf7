/// A track of an ISO base media file, as the file's index has it.
struct MP4Track {
  /// Ticks a second.
  var scale: UInt64
  /// Ticks from the file's first moment to the end of the track, as far as the index goes.
  var end: UInt64
  var isVideo = false
  /// Of a sample whose fragment does not say it.
  var sampleDuration: UInt64 = 0
  /// Of a sample whose fragment does not say it (8.8.3.1).
  var sampleFlags: UInt64 = 0

  /// By number.
  static func all(in index: MP4Box, of source: ByteSource) -> [UInt64: MP4Track] {
    let parts = index.children(of: source)
    var tracks: [UInt64: MP4Track] = [:]
    for part in parts where part.type == "trak" {
      guard let (number, track) = track(part, of: source) else { continue }
      tracks[number] = track
    }
    for preset in parts.first(where: { $0.type == "mvex" })?.children(of: source) ?? [] where preset.type == "trex" {
      guard let number = preset.number(at: 4, 4, of: source) else { continue }
      tracks[number]?.sampleDuration = preset.number(at: 12, 4, of: source) ?? 0
      tracks[number]?.sampleFlags = preset.number(at: 20, 4, of: source) ?? 0
    }
    return tracks
  }

  private static func track(_ part: MP4Box, of source: ByteSource) -> (number: UInt64, MP4Track)? {
    guard let header = part.child("tkhd", of: source), let media = part.child("mdia", of: source),
      let time = media.child("mdhd", of: source), let number = field(of: header, short: 12, long: 20, source),
      let scale = field(of: time, short: 12, long: 20, source),
      let end = time.versionAndFlags(of: source)?.version == 1
        ? time.number(at: 24, 8, of: source) : time.number(at: 16, 4, of: source)
    else { return nil }
    let handler = media.child("hdlr", of: source)?.number(at: 8, 4, of: source)
    return (number, MP4Track(scale: scale, end: end, isVideo: handler == 0x7669_6465))  // "vide"
  }

  /// A field whose place depends on the box's version, 0 or 1.
  private static func field(of box: MP4Box, short: Int64, long: Int64, _ source: ByteSource) -> UInt64? {
    box.versionAndFlags(of: source).flatMap { box.number(at: $0.version == 1 ? long : short, 4, of: source) }
  }
}

/// A piece of a track (8.8.6), in ticks of the track.
struct MP4Fragment {
  let track: UInt64
  let start: UInt64
  var duration: UInt64 = 0
  /// Whether its first sample is one.
  var isKeyframe = false

  /// Reads a `traf` (8.8.7, 8.8.8 and 8.8.12).
  init?(_ box: MP4Box, of source: ByteSource, _ tracks: [UInt64: MP4Track]) {
    let parts = box.children(of: source)
    guard let header = parts.first(where: { $0.type == "tfhd" }), let number = header.number(at: 4, 4, of: source),
      let flags = header.versionAndFlags(of: source)?.flags, let preset = tracks[number],
      let begin = parts.first(where: { $0.type == "tfdt" }),
      let start = begin.versionAndFlags(of: source)?.version == 1
        ? begin.number(at: 4, 8, of: source) : begin.number(at: 4, 4, of: source)
    else { return nil }
    (track, self.start) = (number, start)
    var place = 8 + Int64(flags & 1 != 0 ? 8 : 0) + Int64(flags & 2 != 0 ? 4 : 0)
    func next(_ flag: UInt64) -> UInt64? {
      guard flags & flag != 0 else { return nil }
      defer { place += 4 }
      return header.number(at: place, 4, of: source)
    }
    let usualDuration = next(8) ?? preset.sampleDuration
    _ = next(0x10)
    let usualFlags = next(0x20) ?? preset.sampleFlags
    let runs = parts.filter { $0.type == "trun" }.compactMap { MP4Run($0, of: source) }
    duration = runs.reduce(0) { $0 &+ $1.duration(usual: usualDuration) }
    isKeyframe = (runs.first?.firstFlags ?? usualFlags) & 0x1_0000 == 0
  }
}

/// Samples that follow each other (8.8.8).
private struct MP4Run {
  private let flags: UInt64
  private let count: UInt64
  private let bytes: [UInt8]

  init?(_ box: MP4Box, of source: ByteSource) {
    guard let flags = box.versionAndFlags(of: source)?.flags, let count = box.number(at: 4, 4, of: source) else {
      return nil
    }
    (self.flags, self.count) = (flags, count)
    bytes = source.bytes(at: box.body, Int(min(box.end - box.body, 1 << 20)))
  }

  /// Where the first sample stands.
  private var first: Int { 8 + (flags & 1 != 0 ? 4 : 0) + (flags & 4 != 0 ? 4 : 0) }

  private func number(at place: Int) -> UInt64? {
    place + 4 <= bytes.count ? bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// Of the first sample; nil where it has the usual ones.
  var firstFlags: UInt64? {
    if flags & 4 != 0 { return number(at: first - 4) }
    return flags & 0x400 != 0 ? number(at: first + (flags >> 8 & 3).nonzeroBitCount * 4) : nil
  }

  func duration(usual: UInt64) -> UInt64 {
    guard flags & 0x100 != 0 else { return count &* usual }
    let step = (flags >> 8 & 0xf).nonzeroBitCount * 4
    let places = stride(from: first, to: bytes.count - 3, by: step).prefix(Int(min(count, 1 << 20)))
    return places.reduce(0) { $0 &+ (number(at: $1) ?? 0) }
  }
}
