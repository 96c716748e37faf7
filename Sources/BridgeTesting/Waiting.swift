/// What a test waited for did not come.
public struct TimedOut: Error {
  public init() {}
}

/// Waits until `condition` holds, ten seconds at the most.
public func eventually(_ condition: @Sendable () async throws -> Bool) async throws {
  _ = try await eventually { () -> Bool? in try await condition() ? true : nil }
}

/// Waits until `find` gives a value, ten seconds at the most.
public func eventually<Value: Sendable>(_ find: @Sendable () async throws -> Value?) async throws -> Value {
  let deadline = ContinuousClock.now + .seconds(10)
  while true {
    if let value = try await find() { return value }
    guard ContinuousClock.now < deadline else { throw TimedOut() }
    try await Task.sleep(for: .milliseconds(5))
  }
}
