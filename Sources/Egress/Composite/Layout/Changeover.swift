import MediaCore
import MediaPipelines

/// Keeps what was seen until there is a frame of who becomes large: of those who are not seen a server sends none, and the
/// frame would be bare until then. Pure.
struct Changeover: Sendable {
  /// For longer nobody looks at who was seen before.
  static let patience = Duration.seconds(2)

  private var seen: [PlacedTrack] = []
  /// Since when what is seen is not what is to be seen.
  private var since: MediaTime?
  /// Who was waited for in vain, as long as they are large.
  private var givenUp: String?

  /// - Parameters:
  ///   - next: what is to be seen.
  ///   - large: the SID of who is large in it; nil where nobody is.
  /// - Returns: what is seen, or awaited; a later one is above an earlier one.
  mutating func places(
    _ next: [PlacedTrack], large: String?, of tracks: [TileTrack], at now: MediaTime
  ) -> [PlacedTrack] {
    let track = tracks.first { $0.sid == large }
    let before = seen.filter { old in tracks.contains { $0.sid == old.sid } }
    if givenUp != large { givenUp = nil }
    guard let track, !track.hasShown, !track.isMuted, before.contains(where: { $0.sid != large }),
      isPatient(with: track.sid, at: now)
    else {
      (seen, since) = (next, nil)
      return next
    }
    if before.contains(where: { $0.sid == large }) { return before }
    return before + next.filter { $0.sid == large }.map { PlacedTrack(sid: $0.sid, place: $0.place, isAwaited: true) }
  }

  private mutating func isPatient(with sid: String, at now: MediaTime) -> Bool {
    guard givenUp != sid else { return false }
    let begin = since ?? now
    since = begin
    if now - begin >= Self.patience { givenUp = sid }
    return givenUp == nil
  }
}
