import MediaCore

/// Looks after something again and again until it is stopped, or has nothing to look after any more.
final class Watch: Sendable {
  private let task = Locked<Task<Void, Never>?>(nil)

  /// - Parameter look: returns when to look again; nil for never. What it keeps alive is kept until `stop()`.
  func start(_ look: @escaping @Sendable () -> Duration?) {
    let task = Task {
      while !Task.isCancelled, let pause = look() { try? await Task.sleep(for: pause) }
    }
    self.task.withLock { $0 = task }
  }

  /// It looks no more when this returns.
  func stop() async {
    let task = task.withLock { $0 }
    task?.cancel()
    await task?.value
  }
}
