import MediaCore

/// Runs what takes time one after the other, in the order in which it was asked for.
final class TaskChain: Sendable {
  private let last = Locked<Task<Void, Never>?>(nil)

  @discardableResult
  func add<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Task<Result, Never> {
    last.withLock { last in
      let task = Task { [earlier = last] in
        await earlier?.value
        return await body()
      }
      last = Task { _ = await task.value }
      return task
    }
  }

  /// Returns when all that was added before is done.
  func settled() async { await last.withLock { $0 }?.value }
}
