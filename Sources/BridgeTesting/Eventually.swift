/// A condition that did not come true in time.
public struct TimedOut: Error, CustomStringConvertible {
  public let description: String
}

/// Waits until `condition` holds.
/// - Throws: `TimedOut`, which names `what`.
public func eventually(
  _ what: String, within limit: Duration = .seconds(20), _ condition: @Sendable () async -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while !(await condition()) {
    guard ContinuousClock.now < deadline else { throw TimedOut(description: "not within \(limit): \(what)") }
    try await Task.sleep(for: .milliseconds(5))
  }
}
