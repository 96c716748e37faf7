/// The order of a composite's tiles, in which none moves that need not: who watches looks for people where they were
/// (`updatePages` of LiveKit's components, for the one page that a composite shows). Pure.
struct TileOrder: Sendable {
  private var sids: [String] = []
  private var capacity = 0

  /// - Parameters:
  ///   - tracks: all that there are, the best first.
  ///   - capacity: how many are seen. Where that changes all are laid anew.
  /// - Returns: all of them; the first `capacity` are seen.
  mutating func update(_ tracks: [TileTrack], capacity: Int) -> [TileTrack] {
    let wanted = tracks.map(\.sid)
    if capacity != self.capacity { sids = wanted }
    self.capacity = capacity
    let (known, present) = (Set(sids), Set(wanted))
    sids = sids.filter(present.contains) + wanted.filter { !known.contains($0) }
    bringIn(wanted.prefix(capacity))
    let bySID = Dictionary(tracks.map { ($0.sid, $0) }) { first, _ in first }
    return sids.compactMap { bySID[$0] }
  }

  /// Who is to be seen and is not takes the place of one who is seen and need not be.
  private mutating func bringIn(_ wanted: ArraySlice<String>) {
    let seen = sids.prefix(capacity)
    let leaving = seen.indices.filter { !wanted.contains(sids[$0]) }
    for (place, sid) in zip(leaving, wanted.filter { !seen.contains($0) }) {
      guard let from = sids.firstIndex(of: sid) else { continue }
      sids.swapAt(place, from)
    }
  }
}
