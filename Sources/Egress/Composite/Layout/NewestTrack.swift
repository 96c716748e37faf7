import MediaPipelines

/// Which track of a participant is seen: the one that was published or unmuted last. Pure.
struct NewestTrack: Sendable {
  /// Muted ones are not in it; the newest is the last.
  private var live: [String] = []
  private var shown: String?

  /// - Parameter sorted: the best first, which goes before others that are as new.
  /// - Returns: what is seen, whole: until there is a frame of the newest the one before, while the newest is awaited.
  mutating func places(of sorted: [TileTrack], in size: PixelSize) -> [PlacedTrack] {
    let unmuted = sorted.filter { !$0.isMuted }.map(\.sid)
    live = live.filter(unmuted.contains) + unmuted.reversed().filter { !live.contains($0) }
    // What was seen stays, muted, when nothing else is there.
    let last = sorted.contains { $0.sid == shown } ? shown : nil
    guard let newest = live.last ?? last ?? sorted.first?.sid else { return [] }
    let isSeen = sorted.first { $0.sid == newest }?.hasShown == true
    let before = isSeen || last == newest ? nil : last
    if isSeen || before == nil { shown = newest }
    return [before, newest].compactMap { $0 }.map { sid in
      PlacedTrack(
        sid: sid, place: TilePlace(x: 0, y: 0, width: size.width, height: size.height, fit: .contain),
        isAwaited: before != nil && sid == newest)
    }
  }
}
