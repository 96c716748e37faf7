import MediaCore
import MediaPipelines

/// Keeps what was seen under somebody who becomes large and of whom no frame has come: of those who are not seen a server sends
/// none, and the frame would be bare until then. Pure.
struct Changeover: Sendable {
  /// For longer nobody looks at who was seen before.
  static let patience = Duration.seconds(2)

  private var seen: [(sid: String, place: TilePlace)] = []
  private var awaited: (sid: String, since: MediaTime)?

  /// - Parameters:
  ///   - next: what is to be seen.
  ///   - large: the SID of who is large in it; nil where nobody is.
  /// - Returns: what is seen; a later one is above an earlier one.
  mutating func places(
    _ next: [(sid: String, place: TilePlace)], large: String?, of tracks: [TileTrack], at now: MediaTime
  ) -> [(sid: String, place: TilePlace)] {
    let track = tracks.first { $0.sid == large }
    let before = seen.filter { old in old.sid != large && tracks.contains { $0.sid == old.sid } }
    guard let track, !track.hasShown, !track.isMuted, !before.isEmpty, isPatient(with: track.sid, at: now) else {
      seen = next
      return next
    }
    return before + next.filter { $0.sid == track.sid }
  }

  private mutating func isPatient(with sid: String, at now: MediaTime) -> Bool {
    if awaited?.sid != sid { awaited = (sid, now) }
    return awaited.map { now - $0.since < Self.patience } ?? false
  }
}
