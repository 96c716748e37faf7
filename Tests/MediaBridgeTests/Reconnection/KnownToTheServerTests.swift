import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// What a server knows of us after a connection was lost: what renderers need, and that we may still come.
@Suite struct KnownToTheServerTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let events: Collector<RoomEvent>
    let publication: RemoteTrackPublication
    let screen: Screen

    func lose(_ mode: ReconnectMode) {
      switch mode {
      case .quick: watcher.synthetic.server.cutSignal(of: Watcher.identity)
      case .full: watcher.tell { $0.leave.action = .reconnect }
      }
    }

    func back(_ mode: ReconnectMode) async throws {
      try await eventually("the connection", within: .seconds(20)) {
        events.values.contains { if case .reconnected(mode) = $0 { true } else { false } }
      }
    }

    /// Waits until the server was told so of the camera, since it was asked for so many things.
    func told(
      _ what: String, since count: Int = 0, _ matches: @escaping @Sendable (Livekit_UpdateTrackSettings) -> Bool
    ) async throws {
      try await eventually(what, within: .seconds(20)) {
        watcher.asked.values.dropFirst(count).last { $0.trackSetting.trackSids.contains(publication.sid) }
          .map { matches($0.trackSetting) } ?? false
      }
    }
  }

  /// A room with adaptive stream, and alice's camera on a screen of 320x180.
  private func run(_ body: (Scene) async throws -> Void) async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(audioPlayback: .off), events: events) { watcher in
      let camera = try await watcher.camera()
      let screen = await Screen(320, 180)
      try #require(camera.track as? RemoteVideoTrack).add(videoRenderer: screen)
      let scene = Scene(watcher: watcher, events: events, publication: camera, screen: screen)
      try await scene.told("the size") { $0.width == 320 && $0.height == 180 && !$0.disabled }
      try await body(scene)
    }
  }

  @Test(arguments: [ReconnectMode.quick, .full]) func theSizeOfARendererIsToldAgain(mode: ReconnectMode) async throws {
    try await run { scene in
      let before = scene.watcher.asked.count
      scene.lose(mode)
      try await scene.back(mode)
      try await scene.told("the size again", since: before) { $0.width == 320 && $0.height == 180 && !$0.disabled }
      #expect(scene.publication.preferredDimensions == Dimensions(width: 320, height: 180))
      let shown = scene.screen.frames.withLock { $0.count }
      try await eventually("frames") { scene.screen.frames.withLock { $0.count } > shown + 5 }
    }
  }

  /// A server that goes on with a session would send what nobody sees.
  @Test func aTrackThatIsPausedStaysPaused() async throws {
    try await run { scene in
      await MainActor.run { scene.screen.isVisible = false }
      try await scene.told("the pause") { $0.disabled }
      let before = scene.watcher.asked.count
      scene.lose(.quick)
      try await scene.back(.quick)
      try await eventually("the state with it") {
        scene.watcher.asked.values.dropFirst(before).contains {
          $0.syncState.trackSidsDisabled.contains(scene.publication.sid)
        }
      }
      try await scene.told("the pause again", since: before) { $0.disabled }
      #expect(!scene.publication.isEnabled)
      await MainActor.run { scene.screen.isVisible = true }
      try await scene.told("that it is seen") { !$0.disabled && $0.width == 320 }
    }
  }
}

/// A token is valid for a while; a server sends another one before it expires.
@Suite struct RefreshedTokenTests {
  @Test(arguments: [true, false]) func theNewestTokenOpensTheNextSession(isRefreshed: Bool) async throws {
    let synthetic = try await SyntheticRoom.start()
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off))
    let expiry = Date.now + 3
    try await room.connect(
      url: synthetic.url, token: try SyntheticRoom.token("watcher", validFor: 3))
    // In place of the one that the server has sent by itself.
    var response = Livekit_SignalResponse()
    response.refreshToken = try SyntheticRoom.token("watcher", validFor: isRefreshed ? 60 : 3)
    synthetic.server.tell(response, to: "watcher")
    // Whole seconds are told of in a token.
    try await Task.sleep(for: .seconds(max(0, expiry.timeIntervalSinceNow) + 1.1))
    var leave = Livekit_SignalResponse()
    leave.leave.action = .reconnect
    synthetic.server.tell(leave, to: "watcher")
    if isRefreshed {
      try await eventually("the loss", within: .seconds(20)) { room.connectionState == .reconnecting }
      try await eventually("the connection", within: .seconds(20)) { room.connectionState == .connected }
    } else {
      try await eventually("the end", within: .seconds(20)) { room.connectionState == .disconnected }
      #expect(room.disconnectError?.code == .unauthorized, "\(room.disconnectError?.message ?? "no reason")")
    }
    await room.disconnect()
    await synthetic.stop()
  }

  /// That they have stopped is told once, and gets lost with the connection.
  @Test func nobodySpeaksAfterAResumeBeforeTheServerSaysSo() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(audioPlayback: .off), events: events) { watcher in
      let alice = try #require(watcher.room.remoteParticipants["alice"])
      watcher.tell { response in
        var speaker = Livekit_SpeakerInfo()
        (speaker.sid, speaker.level, speaker.active) = (alice.sid, 0.5, true)
        response.speakersChanged.speakers = [speaker]
      }
      try await eventually("who speaks") { watcher.room.activeSpeakers.first === alice && alice.isSpeaking }
      watcher.synthetic.server.cutSignal(of: Watcher.identity)
      try await eventually("that nobody does") { watcher.room.activeSpeakers.isEmpty && !alice.isSpeaking }
    }
    let told = events.values.compactMap { event in
      if case .speakingChanged(_, let speaks) = event { speaks } else { nil }
    }
    #expect(told == [true, false])
  }
}
