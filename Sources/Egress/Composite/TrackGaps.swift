import MediaBridge
import MediaCore

/// Where nothing came for a while of a track that is seen or heard in a mix, which goes on without it.
///
/// Pure: times are those of the job.
struct TrackGaps: Sendable {
  /// A track that has a place in the mix now.
  struct Place: Sendable {
    var sid: String
    var kind: Track.Kind
    var identity: String
    /// Of the newest frame or block of audio; nil before the first one.
    var newest: Duration?
  }

  private struct Entry {
    let kind: Track.Kind
    let identity: String
    var log: GapLog
    var hasPlace = true
  }
  private var entries: [String: Entry] = [:]

  /// - Parameter places: all that there are now. What has none is not asked for, and misses nothing.
  mutating func note(_ places: [Place], at now: Duration) {
    let known = Set(places.map(\.sid))
    for (sid, entry) in entries where entry.hasPlace && !known.contains(sid) {
      entries[sid]?.log.stop(at: now)
      entries[sid]?.hasPlace = false
    }
    for place in places { note(place, at: now) }
  }

  private mutating func note(_ place: Place, at now: Duration) {
    var entry = entries[place.sid] ?? Entry(kind: place.kind, identity: place.identity, log: GapLog(from: now))
    if !entry.hasPlace { entry.log.goOn(from: now) }
    entry.hasPlace = true
    if let newest = place.newest { entry.log.came(at: newest) }
    entries[place.sid] = entry
  }

  /// In the order of their beginnings.
  /// - Parameter length: of the job.
  func spans(until length: Duration) -> [Manifest.Span] {
    entries.flatMap { sid, entry in
      (entry.hasPlace ? entry.log.gaps(until: length) : entry.log.gaps).map { gap in
        Manifest.Span(
          kind: entry.kind.description, identity: entry.identity, trackId: sid, from: gap.from, to: gap.to)
      }
    }.sorted { ($0.from, $0.trackId ?? "") < ($1.from, $1.trackId ?? "") }
  }
}
