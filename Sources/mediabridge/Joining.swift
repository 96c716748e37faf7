import Foundation
import MediaBridge

extension Console {
  /// Joins a room by `connect`. Nothing is there yet that would have to be completed, so an interruption ends the process.
  /// - Parameters:
  ///   - url: the server's, for what is said then.
  ///   - abandon: gives back before that what was claimed for later.
  func join(
    _ url: String, _ interruption: Interruption, isolation: isolated (any Actor)? = #isolation,
    abandon: @escaping @Sendable () async -> Void = {}, _ connect: () async throws -> Void
  ) async throws {
    let watcher = Task {
      await interruption.wait(atMost: nil)
      guard !Task.isCancelled else { return }
      await abandon()
      fail(LiveKitError(.cancelled, "stopped while connecting to \(url)"))
      Terminal.shared.finish()
      // Without what `exit` takes down: threads of media may be running.
      _exit(EXIT_FAILURE)
    }
    defer { watcher.cancel() }
    try await connect()
    CommandCourse.join()
  }
}

extension Room {
  /// Why it is not connected any more.
  var loss: LiveKitError { disconnectError ?? LiveKitError(.disconnected, "the connection to the room was lost") }

  /// Connects, for who is there to receive.
  /// - Throws: `permissionDenied` where the token lets it only publish.
  func connectToReceive(url: String, token: String, connectOptions: ConnectOptions) async throws(LiveKitError) {
    try await connect(url: url, token: token, connectOptions: connectOptions)
    guard localParticipant.permissions.canSubscribe else {
      await disconnect()
      throw .maySubscribeNothing
    }
  }
}
