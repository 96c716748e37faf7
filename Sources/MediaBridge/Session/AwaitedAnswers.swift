/// What the server is still to answer, by the key that a request and its answer carry. Its session's only.
struct AwaitedAnswers<Key: Hashable & Sendable, Value: Sendable> {
  private var outcomes: [Key: Outcome<Value, LiveKitError>] = [:]

  /// - Returns: what comes of it, until it is forgotten.
  mutating func await(_ key: Key) -> Outcome<Value, LiveKitError> {
    let outcome = Outcome<Value, LiveKitError>()
    outcomes[key] = outcome
    return outcome
  }

  mutating func forget(_ key: Key) { outcomes[key] = nil }

  func settle(_ key: Key, _ result: Result<Value, LiveKitError>) { outcomes[key]?.settle(result) }

  func failAll(_ error: LiveKitError) {
    for outcome in outcomes.values { outcome.settle(.failure(error)) }
  }

  var isEmpty: Bool { outcomes.isEmpty }
}
