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
  private var changes: [UInt32: Livekit_UpdateParticipantMetadata] = [:]
  private var newestID: UInt32 = 0

  /// - Returns: the number for a request, and what comes of it.
  mutating func awaitAnswer(
    to change: Livekit_UpdateParticipantMetadata
  ) -> (id: UInt32, answer: Outcome<Void, LiveKitError>) {
    newestID += 1
    changes[newestID] = change
    return (newestID, answers.await(newestID))
  }

  mutating func forgetAnswer(_ id: UInt32) {
    changes[id] = nil
    answers.forget(id)
  }

  /// Servers of a protocol below 15 say what they refuse, and of what they have done only that it is so.
  func told(_ info: Livekit_ParticipantInfo) {
    for (id, change) in changes where change.isDone(info.name, info.metadata, info.attributes) {
      answers.settle(id, .success(()))
    }
  }

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

extension Livekit_UpdateParticipantMetadata {
  /// Whether a participant is what this makes of it: what is empty here changes nothing, and there is no empty attribute.
  func isDone(_ name: String, _ metadata: String, _ attributes: [String: String]) -> Bool {
    (self.name.isEmpty || self.name == name) && (self.metadata.isEmpty || self.metadata == metadata)
      && self.attributes.allSatisfy { attributes[$0.key] ?? "" == $0.value }
  }
}
