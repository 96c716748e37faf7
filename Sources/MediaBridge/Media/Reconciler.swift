import MediaCore

/// Brings something into line with what is wanted of it. Whoever asks while another thread is at it leaves it to that
/// one, so that no two are at it at once, and what was wanted last is what comes out.
package final class Reconciler: Sendable {
  private struct State {
    var isWorking = false
    var isAsked = false
  }
  private let state = Locked(State())

  /// Nothing is wanted yet.
  package init() {}

  /// - Parameter body: looks at what is wanted now, and does it.
  package func run(_ body: () -> Void) {
    let isOurs = state.withLock { state in
      state.isAsked = true
      defer { state.isWorking = true }
      return !state.isWorking
    }
    guard isOurs else { return }
    while isAskedAgain() { body() }
  }

  private func isAskedAgain() -> Bool {
    state.withLock { state in
      defer { state.isAsked = false }
      state.isWorking = state.isAsked
      return state.isAsked
    }
  }
}
