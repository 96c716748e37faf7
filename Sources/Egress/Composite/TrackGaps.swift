import MediaBridge
import MediaCore

/// Where nothing came for a while of a track that is seen or heard in a mix, which goes on without it.
///
/// Pure: times are those of the job, and `age` says which one a moment is.
struct TrackGaps: Sendable {
  /// A track that has a place in the mix now.
  struct Place: Sendable {
    var sid: String
    var kind: Track.Kind
    var identity: String
    /// Of what comes of it.
    var watch: GapWatch
  }

  private struct Entry {
    let kind: Track.Kind
    let identity: String
    var log: GapLog
    /// Nil while it has no place.
    var watch: GapWatch?

    mutating func take(_ age: (MediaTime) -> Duration) {
      guard let (beginnings, newest) = watch?.take() else { return }
      // What came between them was without a gap.
      for beginning in beginnings {
        if let before = beginning.before { log.goOn(from: age(before)) }
        log.came(at: age(beginning.time))
      }
      if let newest { log.goOn(from: age(newest)) }
    }
  }
  private var entries: [String: Entry] = [:]

  /// - Parameter places: all that there are now. What has none is not asked for, and misses nothing.
  mutating func note(_ places: [Place], age: (MediaTime) -> Duration, at now: Duration) {
    take(age)
    let known = Set(places.map(\.sid))
    for (sid, entry) in entries where entry.watch != nil && !known.contains(sid) {
      entries[sid]?.log.stop(at: now)
      entries[sid]?.watch = nil
    }
    for place in places where entries[place.sid]?.watch !== place.watch { begin(place, at: now) }
  }

  /// Takes what has come since the last look.
  mutating func take(_ age: (MediaTime) -> Duration) {
    for sid in Array(entries.keys) { entries[sid]?.take(age) }
  }

  private mutating func begin(_ place: Place, at now: Duration) {
    var entry = entries[place.sid] ?? Entry(kind: place.kind, identity: place.identity, log: GapLog(from: now))
    if entry.watch == nil {
      // What came while it had no place says nothing of gaps.
      _ = place.watch.take()
      entry.log.goOn(from: now)
    }
    entry.watch = place.watch
    entries[place.sid] = entry
  }

  /// In the order of their beginnings.
  /// - Parameter length: of the job.
  func spans(until length: Duration) -> [Manifest.Span] {
    entries.flatMap { sid, entry in
      (entry.watch == nil ? entry.log.gaps : entry.log.gaps(until: length)).compactMap { gap -> Manifest.Span? in
        // What comes after the end may end a gap within the job.
        let end = min(gap.to, length)
        guard end - gap.from >= GapLog.least else { return nil }
        return Manifest.Span(
          kind: entry.kind.description, identity: entry.identity, trackId: sid, from: gap.from, to: end)
      }
    }.sorted { ($0.from, $0.trackId ?? "") < ($1.from, $1.trackId ?? "") }
  }
}
