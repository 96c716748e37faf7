import MediaCore
import MediaPipelines

/// Keeps what was seen until there is a frame of who takes its place. Of those who are not seen a server sends none, so
/// that the frame would be bare until then. Pure.
struct Changeover: Sendable {
  /// For longer nobody looks at who was seen before.
  static let patience = Duration.seconds(2)

  private var seen: [PlacedTrack] = []
  /// Since when what is seen is not what is to be seen.
  private var since: MediaTime?
  /// Who was waited for in vain, as long as they are large.
  private var givenUp: String?
  /// Since when who is seen keeps a place from another one, by SID.
  private var keeping: [String: MediaTime] = [:]

  /// All stays as it is until there is a frame of who becomes large.
  /// - Parameters:
  ///   - next: what is to be seen.
  ///   - large: the SID of who is large in it; nil where nobody is.
  /// - Returns: what is seen, or awaited; a later one is above an earlier one.
  mutating func places(
    _ next: [PlacedTrack], large: String?, of tracks: [TileTrack], at now: MediaTime
  ) -> [PlacedTrack] {
    let track = tracks.first { $0.sid == large }
    let before = seen.filter { old in tracks.contains { $0.sid == old.sid } }
    keeping = [:]
    if givenUp != large { givenUp = nil }
    guard let track, track.isLacking, before.contains(where: { $0.sid != large }), isPatient(with: track.sid, at: now)
    else {
      (seen, since) = (next, nil)
      return next
    }
    if before.contains(where: { $0.sid == large }) { return before }
    return before + next.filter { $0.sid == large }.map(\.awaited)
  }

  private mutating func isPatient(with sid: String, at now: MediaTime) -> Bool {
    guard givenUp != sid else { return false }
    let begin = since ?? now
    since = begin
    if now - begin >= Self.patience { givenUp = sid }
    return givenUp == nil
  }

  /// Each place by itself stays as it is until there is a frame of who comes there and was not seen. The others change
  /// at once, but for those that are needed for it.
  /// - Parameter next: what is to be seen.
  /// - Returns: what is seen, or awaited; a later one is above an earlier one.
  mutating func places(_ next: [PlacedTrack], of tracks: [TileTrack], at now: MediaTime) -> [PlacedTrack] {
    var before = seen.filter { old in tracks.contains { $0.sid == old.sid } }
    let newcomers = next.indices.filter { index in
      tracks.contains { $0.sid == next[index].sid && $0.isLacking } && !before.contains { $0.sid == next[index].sid }
    }
    var shown: [PlacedTrack?] = next
    var awaited: [PlacedTrack] = []
    var begins: [String: MediaTime] = [:]
    for index in newcomers {
      guard let old = before.first(where: { $0.isWhere(next[index]) }) else { continue }
      let begin = keeping[old.sid] ?? now
      guard now - begin < Self.patience else { continue }
      begins[old.sid] = begin
      awaited.append(next[index].awaited)
      Self.keep(index, of: next, &before, in: &shown)
    }
    (seen, since, givenUp, keeping) = (shown.compactMap { $0 }, nil, nil, begins)
    return seen + awaited
  }

  /// Who was seen in a place stays there, and so the place that they were to have stays as it was, too.
  /// - Parameter before: what was seen, without those that stay.
  private static func keep(
    _ index: Int, of next: [PlacedTrack], _ before: inout [PlacedTrack], in shown: inout [PlacedTrack?]
  ) {
    var vacant: Int? = index
    while let place = vacant {
      let old = before.firstIndex { $0.isWhere(next[place]) }.map { before.remove(at: $0) }
      shown[place] = old
      vacant = old.flatMap { old in next.firstIndex { $0.sid == old.sid } }
    }
  }
}

extension TileTrack {
  /// Whether there is no frame of it yet, and one to be waited for.
  fileprivate var isLacking: Bool { !hasShown && !isMuted }
}

extension PlacedTrack {
  fileprivate var awaited: PlacedTrack { PlacedTrack(sid: sid, place: place, isAwaited: true) }

  /// Whether both have the same rectangle, however frames are laid into it.
  fileprivate func isWhere(_ other: PlacedTrack) -> Bool {
    (place.x, place.y) == (other.place.x, other.place.y) && place.size == other.place.size
  }
}
