import GStreamerKit
import MediaBridge
import MediaCore

/// Hands on what is mixed, while mixes take over from each other.
final class MixRelay: Sendable {
  private struct State {
    var turns: [Track.Kind: MixTurns<MediaBuffer>] = [:]
    /// Why the newest mix, which has not taken over yet, cannot.
    var failures: [Track.Kind: LiveKitError] = [:]
    /// The number of the newest.
    var newest: [Track.Kind: Int] = [:]
    /// Whether something has come of it.
    var hasBegun: [Track.Kind: Bool] = [:]
  }
  private let state = Locked(State())
  private let write: @Sendable (MediaBuffer, Track.Kind) -> Void

  /// - Parameter write: called on streaming threads, in order for each kind; to return at once.
  init(write: @escaping @Sendable (MediaBuffer, Track.Kind) -> Void) { self.write = write }

  /// What is given to a mix of that number; the first one goes on at once.
  func take(_ media: MediaBuffer, _ kind: Track.Kind, of turn: Int) {
    guard let time = media.pts else { return }
    let verdict = state.withLock { state in
      if turn == state.newest[kind] { state.hasBegun[kind] = true }
      return state.turns[kind, default: MixTurns()].take(media, of: turn, at: time)
    }
    switch verdict {
    case .pass: write(media, kind)
    case .drop: break
    case .drain:
      while let held = state.withLock({ $0.turns[kind]?.drain() }) { for media in held { write(media, kind) } }
    }
  }

  /// - Returns: the number of another mix, which is to take over.
  func nextTurn(_ kind: Track.Kind) -> Int {
    state.withLock { state in
      (state.failures[kind], state.hasBegun[kind]) = (nil, nil)
      state.newest[kind, default: 0] += 1
      return state.newest[kind, default: 0]
    }
  }

  /// Whether something has come of the newest one.
  func hasBegun(_ kind: Track.Kind) -> Bool { state.withLock { $0.hasBegun[kind] == true } }

  /// Has the newest one take over.
  func change(_ kind: Track.Kind, at time: MediaTime) {
    state.withLock { $0.turns[kind, default: MixTurns()].change(to: $0.newest[kind] ?? 0, at: time) }
  }

  /// Whether the newest one has taken over since this was asked last.
  func hasChanged(_ kind: Track.Kind) -> Bool { state.withLock { $0.turns[kind]?.settle() == true } }

  /// - Returns: whether it is that of the mix that goes on; that of the newest one is kept.
  func note(_ error: LiveKitError, _ kind: Track.Kind, of turn: Int) -> Bool {
    state.withLock { state in
      if turn == state.turns[kind]?.current ?? 0 { return true }
      if turn == state.newest[kind] { state.failures[kind] = state.failures[kind] ?? error }
      return false
    }
  }

  func failure(_ kind: Track.Kind) -> LiveKitError? { state.withLock { $0.failures[kind] } }
}
