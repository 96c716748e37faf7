/// What a file of media really holds, read from the file itself.
///
/// Pure, and quick for a file of hours: of each fragment or cluster only the header is read, of the last ones the times.
struct StoredMedia: Equatable {
  /// Where the last fragment, cluster or block that is whole ends: what lies behind it cannot be played.
  var end: Int64
  /// Of the longest track, from the file's first moment.
  var length: Duration
  /// What has to be written into a file that is cut there.
  var corrections: [Correction] = []

  struct Correction: Equatable {
    var place: Int64
    var bytes: [UInt8]
  }

  init(end: Int64, length: Duration, corrections: [Correction] = []) {
    self.end = end
    self.length = length
    self.corrections = corrections
  }

  /// nil for what is neither MP4 nor Matroska (WebM is), and for a file of which nothing can be played.
  init?(of source: ByteSource) {
    guard let stored = MP4Layout(of: source)?.media ?? MatroskaLayout(of: source)?.media else { return nil }
    self = stored
  }

  /// - Parameter scale: ticks a second, of 32 bits.
  static func duration(ticks: UInt64, scale: UInt64) -> Duration? {
    guard (1...UInt64(UInt32.max)).contains(scale), ticks / scale < 1_000_000_000 else { return nil }
    return .seconds(Int64(ticks / scale)) + .nanoseconds(Int64(ticks % scale * 1_000_000_000 / scale))
  }
}
