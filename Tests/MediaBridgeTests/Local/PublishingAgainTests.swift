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

  /// Until its connection stands it may take seconds, where TCP or a relay has to be found.
  @Test func whatHasNoConnectionYetWhenTheSessionIsLostIsPublishedInTheNext() async throws {
    let room = Room(roomOptions: RoomOptions(defaultCameraCaptureOptions: Self.camera))
    let (isLost, count) = (DispatchSemaphore(value: 0), Locked(0))
    var configuration = DevServerConfiguration(port: 0)
    configuration.onRequest = { _, request in
      // While its server waits here nothing is connected.
      if case .offer = request.message, count.next() == 1 { _ = isLost.wait(timeout: .now() + 30) }
    }
    let server = DevServer(configuration: configuration)
    let port = try await server.start()
    let outcome: Result<Void, any Error>
    do {
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await room.connect(url: "ws://127.0.0.1:\(port)", token: try SyntheticRoom.token("alice", grant))
      let session = try #require(room.localParticipant.session.withLock { $0 })
      async let publishing = room.localParticipant.setCamera(enabled: true)
      try await eventually("the publication") { !room.localParticipant.trackPublications.isEmpty }
      await session.lose()
      isLost.signal()
      let published = try await publishing
      let camera = try #require(published)
      try await eventually("packets of it", within: .seconds(60)) { camera.sent.packets > 20 }
      #expect(camera.sendFailure == nil && room.localParticipant.localVideoTracks.first === camera)
      outcome = .success(())
    } catch { outcome = .failure(error) }
    isLost.signal()
    await room.disconnect()
    await server.stop()
    try outcome.get()
  }

  /// A session that is resumed then would name it, and LiveKit's server begins anew where it does not know a track.
  @Test func whatIsTakenBackIsForgottenBeforeTheServerHearsOfIt() async throws {
    let room = Room(roomOptions: RoomOptions(defaultCameraCaptureOptions: Self.camera))
    let (isTakenBack, named) = (Locked(false), Collector<Int>())
    var configuration = DevServerConfiguration(port: 0)
    configuration.onRequest = { _, request in
      guard case .offer = request.message, isTakenBack.withLock({ $0 }) else { return }
      if let count = room.localParticipant.session.withLock({ $0 })?.countNamed() { named.add(count) }
    }
    let server = DevServer(configuration: configuration)
    let port = try await server.start()
    let outcome: Result<Void, any Error>
    do {
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await room.connect(url: "ws://127.0.0.1:\(port)", token: try SyntheticRoom.token("alice", grant))
      let camera = try #require(try await room.localParticipant.setCamera(enabled: true))
      isTakenBack.withLock { $0 = true }
      try await room.localParticipant.unpublish(publication: camera)
      try await eventually("the offer without it") { named.values.last == 0 }
      outcome = .success(())
    } catch { outcome = .failure(error) }
    await room.disconnect()
    await server.stop()
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

  /// How many tracks a server that goes on with the session would be told of when it is asked.
  fileprivate nonisolated func countNamed() -> Int {
    let (isDone, count) = (DispatchSemaphore(value: 0), Locked(0))
    Task {
      let named = await state.link.published.count
      count.withLock { $0 = named }
      isDone.signal()
    }
    isDone.wait()
    return count.withLock { $0 }
  }

  /// As by a server that knows it no more.
  fileprivate func lose() {
    handle(.signalEnded(SessionFailure(LiveKitError(.disconnected, "it was lost"), remedy: .full)))
  }

  private func renameAnnounced() { _ = services.local.announceAgain() }
}
