import BridgeTesting
import DevServer
import Dispatch
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// What was published before the connection was lost.
@Suite struct PublishingAgainTests {
  private static let camera = CameraCaptureOptions(
    template: "pattern", values: ["width": "320", "height": "180", "framerate": "20/1"])

  /// The connection goes once more before the server's answer gets here, and is away for longer than that is waited for.
  @Test func whatIsAnnouncedWhileTheConnectionGoesAgainIsPublished() async throws {
    let delays = ConnectOptions(reconnectAttemptDelay: 12, reconnectMaxDelay: 12)
    let room = Room(roomOptions: RoomOptions(defaultCameraCaptureOptions: Self.camera))
    let (server, count) = (Locked<DevServer?>(nil), Locked(0))
    var configuration = DevServerConfiguration(port: 0)
    configuration.resumeWindow = .seconds(120)
    configuration.onRequest = { identity, request in
      guard case .addTrack = request.message, count.next() == 2 else { return }
      room.localParticipant.session.withLock { $0 }?.waitUntilAnswersAreUnknown()
      server.withLock { $0 }?.cutSignal(of: identity)
    }
    let made = DevServer(configuration: configuration)
    server.withLock { $0 = made }
    let port = try await made.start()
    let outcome: Result<Void, any Error>
    do {
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await room.connect(
        url: "ws://127.0.0.1:\(port)", token: try SyntheticRoom.token("alice", grant), connectOptions: delays)
      let camera = try #require(try await room.localParticipant.setCamera(enabled: true))
      let sid = camera.sid
      var response = Livekit_SignalResponse()
      response.leave.action = .reconnect
      made.tell(response, to: "alice")
      try await eventually("the camera under another SID", within: .seconds(60)) { camera.sid != sid }
      let sent = camera.sent.packets
      try await eventually("packets of it") { camera.sent.packets > sent + 20 }
      #expect(camera.sendFailure == nil)
      outcome = .success(())
    } catch { outcome = .failure(error) }
    await room.disconnect()
    server.withLock { $0 = nil }
    await made.stop()
    try outcome.get()
  }
}

extension Locked<Int> {
  fileprivate func next() -> Int {
    withLock { value in
      value += 1
      return value
    }
  }
}

extension RoomSession {
  /// What is announced now has other ids when this returns: an answer to the ones before is as good as lost.
  fileprivate nonisolated func waitUntilAnswersAreUnknown() {
    let isDone = DispatchSemaphore(value: 0)
    Task {
      await renameAnnounced()
      isDone.signal()
    }
    isDone.wait()
  }

  private func renameAnnounced() { _ = services.local.announceAgain() }
}
