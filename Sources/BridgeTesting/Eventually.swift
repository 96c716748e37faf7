import Foundation

/// How many times as long as usual tests wait, `TEST_PATIENCE` of the environment: under a sanitizer all takes longer.
private let patience = ProcessInfo.processInfo.environment["TEST_PATIENCE"].flatMap(Int.init) ?? 1

/// What a test waited for did not come.
public struct TimedOut: Error, CustomStringConvertible {
  public let description: String
  public init(description: String) { self.description = description }
}

/// Waits until `condition` holds.
/// - Throws: `TimedOut`, which names `what`.
public func eventually(
  _ what: String = "what the test waits for", within limit: Duration = .seconds(20),
  _ condition: @Sendable () async throws -> Bool
) async throws {
  _ = try await eventually(what, within: limit) { () -> Bool? in try await condition() ? true : nil }
}

/// Waits until `find` gives a value.
public func eventually<Value: Sendable>(
  _ what: String = "what the test waits for", within limit: Duration = .seconds(20),
  _ find: @Sendable () async throws -> Value?
) async throws -> Value {
  let limit = limit * patience
  let deadline = ContinuousClock.now + limit
  while true {
    if let value = try await find() { return value }
    guard ContinuousClock.now < deadline else { throw TimedOut(description: "not within \(limit): \(what)") }
    try await Task.sleep(for: .milliseconds(5))
  }
}
