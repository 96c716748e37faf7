import MediaCore

/// When media of a track comes that is seen or heard in a mix. What comes is noted on media threads, whether anybody looks or
/// not, so that a look that is late takes nothing for a gap.
final class GapWatch: Sendable {
  /// What came after nothing had for a while.
  struct Beginning: Sendable, Equatable {
    /// Of what came before it; nil for what came first.
    var before: MediaTime?
    var time: MediaTime
  }

  private struct State {
    var newest: MediaTime?
    var beginnings: [Beginning] = []
  }
  private let state = Locked(State())
  /// Of those that nobody has taken.
  private static let limit = 10_000

  /// One comparison.
  /// - Returns: whether nothing has come before.
  @discardableResult
  func came(at time: MediaTime) -> Bool {
    state.withLock { state in
      defer { state.newest = max(state.newest ?? time, time) }
      let goesOn = state.newest.map { time - $0 < GapLog.least } ?? false
      if !goesOn, state.beginnings.count < Self.limit {
        state.beginnings.append(Beginning(before: state.newest, time: time))
      }
      return state.newest == nil
    }
  }

  /// Whether anything has come.
  var hasBegun: Bool { state.withLock { $0.newest != nil } }

  /// - Returns: the beginnings since this was asked last, and when what is newest came.
  func take() -> (beginnings: [Beginning], newest: MediaTime?) {
    state.withLock { state in
      defer { state.beginnings = [] }
      return (beginnings: state.beginnings, newest: state.newest)
    }
  }
}
