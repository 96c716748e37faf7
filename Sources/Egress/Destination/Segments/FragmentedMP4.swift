import MediaCore

/// Fragmented MP4 as GStreamer's mp4mux makes it: boxes that begin with a buffer, and fragments of one track each. Pure.
///
/// A fragment comes once it is whole. So one of audio that reaches beyond the segment's end may stand behind the video of its
/// time, and goes into the segment that ends; by no more than a fragment lasts.
struct FragmentedMP4: SegmentFormat {
  let ending = "m4s"
  let ticks = 0
  private(set) var initialization: [UInt8]?
  private let hasVideo: Bool
  private var tracks: [UInt64: MP4Track] = [:]
  /// The track whose fragments segments begin with.
  private var leader: UInt64?
  /// Bytes of the last box that are still to come, and what becomes of them.
  private var rest: (count: Int, piece: SegmentPiece) = (0, .apart)

  /// - Parameter hasVideo: whether segments begin with keyframes of video; else with any fragment of audio.
  init(hasVideo: Bool) { self.hasVideo = hasVideo }

  mutating func take(_ bytes: UnsafeRawBufferPointer, at time: Duration?) -> SegmentPiece {
    guard rest.count == 0 else {
      rest.count = max(rest.count - bytes.count, 0)
      return rest.piece
    }
    guard bytes.count >= 8 else { return .apart }
    let size = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
    let piece = piece(String(decoding: bytes[4..<8], as: UTF8.self), bytes)
    rest = (max(size - bytes.count, 0), piece == .apart ? .apart : .more)
    return piece
  }

  mutating func head() -> [UInt8] { [] }

  private mutating func piece(_ type: String, _ bytes: UnsafeRawBufferPointer) -> SegmentPiece {
    switch type {
    case "ftyp": initialization = Array(bytes)
    case "moov":
      initialization = (initialization ?? []) + bytes
      readTracks(ByteSource(Array(bytes)))
    case "moof": return fragment(ByteSource(Array(bytes)))
    case "mdat": return .more
    default: break
    }
    return .apart
  }

  private mutating func readTracks(_ source: ByteSource) {
    guard let index = MP4Box.boxes(of: source, from: 0, to: source.count).first else { return }
    tracks = MP4Track.all(in: index, of: source)
    leader = tracks.keys.sorted().first { tracks[$0]?.isVideo == hasVideo }
  }

  private func fragment(_ source: ByteSource) -> SegmentPiece {
    guard let box = MP4Box.boxes(of: source, from: 0, to: source.count).first,
      let piece = box.child("traf", of: source).flatMap({ MP4Fragment($0, of: source, tracks) }),
      piece.track == leader, let scale = tracks[piece.track]?.scale,
      let begin = StoredMedia.duration(ticks: piece.start, scale: scale)
    else { return .more }
    return .frame(
      begin, isKeyframe: !hasVideo || piece.isKeyframe,
      lasting: StoredMedia.duration(ticks: piece.duration, scale: scale))
  }
}
