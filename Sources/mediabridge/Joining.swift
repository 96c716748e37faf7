import Foundation
import MediaBridge

extension Console {
  /// Joins a room by `connect`. Nothing is there yet that would have to be completed, so an interruption ends the process.
  /// - Parameter url: the server's, for what is said then.
  func join(
    _ url: String, _ interruption: Interruption, isolation: isolated (any Actor)? = #isolation,
    _ connect: () async throws -> Void
  ) async throws {
    let watcher = Task {
      await interruption.wait(atMost: nil)
      guard !Task.isCancelled else { return }
      fail(LiveKitError(.cancelled, "stopped while connecting to \(url)"))
      // Without what `exit` takes down: threads of media may be running.
      _exit(EXIT_FAILURE)
    }
    defer { watcher.cancel() }
    try await connect()
  }
}
