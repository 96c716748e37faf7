import MediaBridge
import MediaCore

/// Whether what mixes still brings something: while it does not, an output goes on with its last frame and silence.
/// Pure.
struct StandstillWatch: Sendable {
  /// A machine that is too slow has mixed something by then.
  static let patience = Duration.seconds(10)
  /// A look that comes late, as in a process that was stopped for a while, says nothing of the time between.
  private static let longestStep = Duration.seconds(1)

  private var last: MediaTime?
  private var still: [Track.Kind: (newest: MediaTime?, time: Duration)] = [:]

  /// To be called several times a second.
  /// - Parameter newest: how far each of the kinds has come; none of one of which nothing was mixed yet.
  /// - Returns: the kinds of which nothing more has come for too long.
  mutating func look(
    at kinds: Set<Track.Kind>, _ newest: [Track.Kind: MediaTime], now: MediaTime
  ) -> Set<Track.Kind> {
    let step = last.map { min(now - $0, Self.longestStep) } ?? .zero
    last = now
    for kind in kinds {
      let known = still[kind].flatMap { $0.newest == newest[kind] ? $0.time + step : nil }
      still[kind] = (newest[kind], known ?? .zero)
    }
    return kinds.filter { still[$0].map { $0.time >= Self.patience } ?? false }
  }
}
