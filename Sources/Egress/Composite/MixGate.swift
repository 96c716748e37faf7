import MediaBridge
import MediaCore

/// Which of what is mixed goes into a job: from the moment at which that begins to the one at which it ends. What is mixed
/// comes later than it was, by the delay of the mixers.
final class MixGate: Sendable {
  private struct State {
    var begin: MediaTime?
    var end: MediaTime?
    /// How far each kind has come.
    var newest: [Track.Kind: MediaTime] = [:]
  }
  private let state = Locked(State())

  func open(at time: MediaTime) { state.withLock { $0.begin = $0.begin ?? time } }
  func close(at time: MediaTime) { state.withLock { $0.end = $0.end ?? time } }

  /// - Returns: whether what was at that time goes on.
  func passes(_ kind: Track.Kind, at time: MediaTime) -> Bool {
    state.withLock { state in
      state.newest[kind] = time
      guard let begin = state.begin, time >= begin else { return false }
      return state.end.map { time < $0 } ?? true
    }
  }

  /// How far each kind has come.
  var newest: [Track.Kind: MediaTime] { state.withLock { $0.newest } }

  /// Whether what was at that time is before the end.
  func isOpen(at time: MediaTime) -> Bool { state.withLock { state in state.end.map { time < $0 } ?? true } }

  /// How much of each kind has not come yet that was before the end; empty where all has, or where there is no end.
  func missing(of kinds: Set<Track.Kind>) -> [Track.Kind: Duration] {
    state.withLock { state in
      guard let begin = state.begin, let end = state.end else { return [:] }
      return kinds.reduce(into: [:]) { missing, kind in
        let newest = max(state.newest[kind] ?? begin, begin)
        if newest < end { missing[kind] = end - newest }
      }
    }
  }
}
