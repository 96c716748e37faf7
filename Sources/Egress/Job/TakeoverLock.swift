import MediaCore

/// Lets one at a time have another pipeline of a destination take over, from a look at what there is to the turn that is
/// prepared: parts and lost connections do so on threads of their own. A server or a disk may be slow to open, so whoever
/// can come back later does not wait for it.
final class TakeoverLock: Sendable {
  private let lock = Locked(())
  /// Those who have it or wait for it.
  private let users = Locked(0)

  /// Runs `body` once nobody else has it.
  func wait<Result: Sendable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    users.withLock { $0 += 1 }
    return try run(body)
  }

  /// - Returns: nil where somebody else has it.
  func ifFree<Result: Sendable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result? {
    let isFree = users.withLock { users in
      defer { users = max(users, 1) }
      return users == 0
    }
    return isFree ? try run(body) : nil
  }

  private func run<Result: Sendable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    defer { users.withLock { $0 -= 1 } }
    return try lock.withLock { _ throws(Failure) in try body() }
  }
}
