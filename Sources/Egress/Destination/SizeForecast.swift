import MediaCore

/// Says ahead when what is written will be too large, from how fast it grows.
///
/// Pure: it is told how far the writing is, some times a second.
package struct SizeForecast: Sendable {
  /// What is seen on the disk lags behind: a muxer keeps up to a second, and ends with an index.
  static let lead = Duration.milliseconds(1500)
  /// Fragments make a file grow in steps of a second, of which this has two at least.
  private static let span = Duration.seconds(2)
  /// The first moment has a header and a keyframe, and is no measure.
  private static let least = Duration.seconds(1)

  private let limit: Int64
  /// The oldest is `span` ago, or as near to it as there is one.
  private var looks: [(time: Duration, bytes: Int64)] = []

  /// - Parameter limit: in bytes.
  package init(limit: Int64) { self.limit = limit }

  /// - Parameters:
  ///   - time: of the media written; less than before begins anew.
  ///   - written: bytes so far.
  /// - Returns: whether with a moment more there would be as many bytes as the limit, at the average pace or at the newest,
  ///   whichever is faster: a sender's bitrate rises for seconds.
  package mutating func isReached(after time: Duration, written: Int64) -> Bool {
    guard time > .zero else { return false }
    note(time, written)
    return Double(written) + pace * Self.lead.seconds >= Double(limit)
  }

  private mutating func note(_ time: Duration, _ written: Int64) {
    if let newest = looks.last, time < newest.time || written < newest.bytes { looks = [] }
    looks.append((time, written))
    while looks.count > 1, time - looks[1].time >= Self.span { looks.removeFirst() }
  }

  /// Bytes a second.
  private var pace: Double {
    guard let oldest = looks.first, let newest = looks.last else { return 0 }
    let average = Double(newest.bytes) / max(newest.time, Self.least).seconds
    guard newest.time - oldest.time >= Self.span else { return average }
    return max(average, Double(newest.bytes - oldest.bytes) / (newest.time - oldest.time).seconds)
  }
}
