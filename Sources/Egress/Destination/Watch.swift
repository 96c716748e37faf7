import Dispatch
import MediaCore

/// Looks after something again and again until it is stopped, or has nothing to look after any more. A look may wait
/// for a disk or a server, and so takes none of the threads that all tasks share, of which there is one a processor.
final class Watch: Sendable {
  private let queue = DispatchQueue(label: "mediabridge.watch")
  private let task = Locked<Task<Void, Never>?>(nil)

  /// - Parameter look: returns when to look again; nil for never. What it keeps alive is kept until `stop()`.
  func start(_ look: @escaping @Sendable () -> Duration?) {
    let task = Task { [queue] in
      while !Task.isCancelled, let pause = await Self.result(of: look, on: queue) {
        try? await Task.sleep(for: pause)
      }
    }
    self.task.withLock { $0 = task }
  }

  private static func result(of look: @escaping @Sendable () -> Duration?, on queue: DispatchQueue) async -> Duration? {
    // Not through the continuation, of whose order the thread sanitizer does not know.
    let result = Locked<Duration?>(nil)
    await withCheckedContinuation { continuation in
      queue.async {
        let pause = look()
        result.withLock { $0 = pause }
        continuation.resume()
      }
    }
    return result.withLock { $0 }
  }

  /// It looks no more when this returns.
  func stop() async {
    let task = task.withLock { $0 }
    task?.cancel()
    await task?.value
  }
}
