import MediaBridge
import MediaCore

/// How long it is waited for what a source is to send.
struct SourceWait: Sendable {
  let room: Room
  /// Nil waits forever.
  var deadline: MediaTime?

  /// - Throws: the wait is over, whatever is missing.
  func check(for missing: String, advice: String = "") throws(LiveKitError) {
    if Task.isCancelled { throw LiveKitError(.cancelled, "stopped while waiting for \(missing)") }
    if room.connectionState == .disconnected {
      throw room.disconnectError ?? LiveKitError(.disconnected, "the room was left while waiting for \(missing)")
    }
    let isConnected = room.connectionState == .connected
    if isConnected, !room.localParticipant.permissions.canSubscribe { throw .maySubscribeNothing }
    if let deadline, MediaTime.now >= deadline {
      throw LiveKitError(.timedOut, "waited in vain for \(missing); \(advice)raise --wait to wait longer")
    }
  }
}

extension LiveKitError {
  /// Why a job does not begin that was finished before.
  static let stoppedEarly = LiveKitError(.cancelled, "it was stopped before anything came")
}
