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

  /// The same; where its task is cancelled without a result, that error, for this caller alone.
  func value(orCancelled error: Failure) async throws(Failure) -> Success {
    try await result(of: makeFollower(), orCancelled: error).get()
  }

  /// The same; where `limit` passes without a result, that error, for this caller alone.
  /// - Parameter cancelled: the error where its task is cancelled; nil where it waits all the same.
  func value(
    within limit: Duration, else error: Failure, orCancelled cancelled: Failure? = nil
  ) async throws(Failure) -> Success {
    try await result(within: limit, else: error, orCancelled: cancelled).get()
  }

  func result(
    within limit: Duration, else error: Failure, orCancelled cancelled: Failure? = nil
  ) async -> Result<Success, Failure> {
    let own = makeFollower()
    let timer = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { own.settle(.failure(error)) }
    }
    defer { timer.cancel() }
    return await result(of: own, orCancelled: cancelled)
  }

  /// Of one follower, which follows no more then.
  private func result(of own: Outcome, orCancelled cancelled: Failure?) async -> Result<Success, Failure> {
    defer { remove(own) }
    return await withTaskCancellationHandler {
      await own.result()
    } onCancel: {
      if let cancelled { own.settle(.failure(cancelled)) }
    }
  }

  private func makeFollower() -> Outcome {
    let follower = Outcome()
    let known = state.withLock { state in
      if state.result == nil { state.followers.append(follower) }
      return state.result
    }
    if let known { follower.settle(known) }
    return follower
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

/// The end of something that may hang.
extension Outcome where Success == Void, Failure == LiveKitError {
  /// Begins to do it.
  /// - Returns: what is settled when it has returned.
  static func end(of work: @escaping @Sendable () async -> Void) -> Outcome {
    let end = Outcome()
    Task {
      await work()
      end.settle(.success(()))
    }
    return end
  }

  /// Returns once it is settled, or at `limit`.
  /// - Returns: whether it is settled.
  func comes(by limit: MediaTime) async -> Bool {
    let late = LiveKitError(.timedOut, "it has not ended")
    let result = await self.result(within: limit - .now, else: late)
    return if case .success = result { true } else { false }
  }
}
