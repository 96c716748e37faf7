import LiveKitProtocol
import MediaCore

/// Requests that are on their way, and who waits for them. Its session's only.
struct ConfirmedRequests {
  /// What the event that is being handled has sent.
  var sent: [Task<Void, any Error>] = []
  /// Who waits until the settings that are due are told.
  var waiters: [CheckedContinuation<Void, any Error>] = []

  /// Those that the server answers, by the number that they carry.
  private var answers = AwaitedAnswers<UInt32, Void>()
  private var newestID: UInt32 = 0

  /// - Returns: the number for a request, and what comes of it.
  mutating func awaitAnswer() -> (id: UInt32, answer: Outcome<Void, LiveKitError>) {
    newestID += 1
    return (newestID, answers.await(newestID))
  }

  mutating func forgetAnswer(_ id: UInt32) { answers.forget(id) }

  func answered(_ response: Livekit_RequestResponse) {
    answers.settle(response.requestID, LiveKitError(response).map { .failure($0) } ?? .success(()))
  }

  func failAnswers(_ error: LiveKitError) { answers.failAll(error) }

  mutating func takeWaiters() -> [CheckedContinuation<Void, any Error>] {
    defer { waiters = [] }
    return waiters
  }

  mutating func resumeWaiters(throwing error: LiveKitError? = nil) {
    for waiter in takeWaiters() { waiter.resume(with: error.map { .failure($0) } ?? .success(())) }
  }

  /// Lets those who wait for settings wait for what was sent.
  mutating func settle() {
    let (sent, waiters) = (sent, takeWaiters())
    guard !waiters.isEmpty else { return }
    Task {
      var failure: (any Error)?
      for task in sent {
        do { try await task.value } catch { failure = error }
      }
      for waiter in waiters { waiter.resume(with: failure.map { .failure($0) } ?? .success(())) }
    }
  }
}
