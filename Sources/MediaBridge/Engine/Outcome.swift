import MediaCore

/// A result that one side waits for and the other settles, once.
package final class Outcome<Success: Sendable, Failure: Error>: Sendable {
  private struct State {
    var result: Result<Success, Failure>?
    var waiting: [CheckedContinuation<Result<Success, Failure>, Never>] = []
  }

  private let state = Locked(State())

  /// Not settled.
  package init() {}

  /// The result, once there is one.
  var current: Result<Success, Failure>? { state.withLock { $0.result } }

  /// Later calls change nothing.
  package func settle(_ result: Result<Success, Failure>) {
    let waiting = state.withLock { state -> [CheckedContinuation<Result<Success, Failure>, Never>] in
      guard state.result == nil else { return [] }
      state.result = result
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: result) }
  }

  /// The result, as soon as there is one.
  package func value() async throws(Failure) -> Success { try await result().get() }

  /// The same; where `limit` passes without a result, the outcome is that error from then on.
  func value(within limit: Duration, else error: Failure) async throws(Failure) -> Success {
    let timer = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { settle(.failure(error)) }
    }
    defer { timer.cancel() }
    return try await value()
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
