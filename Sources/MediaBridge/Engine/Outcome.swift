import MediaCore

/// A result that one side waits for and the other settles, once.
package final class Outcome<Success: Sendable, Failure: Error>: Sendable {
  private struct State {
    var result: Result<Success, Failure>?
    var waiting: [CheckedContinuation<Result<Success, Failure>, Never>] = []
    /// Settled alike, of those who wait for so long only.
    var followers: [Outcome] = []
  }

  private let state = Locked(State())

  /// Not settled.
  package init() {}

  /// The result, once there is one.
  var current: Result<Success, Failure>? { state.withLock { $0.result } }

  /// Later calls change nothing.
  package func settle(_ result: Result<Success, Failure>) {
    let waiters = state.withLock { state -> State in
      guard state.result == nil else { return State() }
      defer { state = State(result: result) }
      return state
    }
    for continuation in waiters.waiting { continuation.resume(returning: result) }
    for follower in waiters.followers { follower.settle(result) }
  }

  /// The result, as soon as there is one.
  package func value() async throws(Failure) -> Success { try await result().get() }

  /// The same; where `limit` passes without a result, that error, for this caller alone.
  func value(within limit: Duration, else error: Failure) async throws(Failure) -> Success {
    try await result(within: limit, else: error).get()
  }

  func result(within limit: Duration, else error: Failure) async -> Result<Success, Failure> {
    let own = Outcome()
    add(own)
    let timer = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { own.settle(.failure(error)) }
    }
    let result = await own.result()
    timer.cancel()
    remove(own)
    return result
  }

  private func add(_ follower: Outcome) {
    let known = state.withLock { state in
      if state.result == nil { state.followers.append(follower) }
      return state.result
    }
    if let known { follower.settle(known) }
  }

  private func remove(_ follower: Outcome) {
    state.withLock { state in state.followers.removeAll { $0 === follower } }
  }

  func result() async -> Result<Success, Failure> {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state in
        if state.result == nil { state.waiting.append(continuation) }
        return state.result
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
