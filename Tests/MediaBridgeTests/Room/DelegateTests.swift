import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import Testing

@Suite struct DelegateTests {
  /// Each cause is followed by the calls that it must have and by no others, in this order.
  @Test func everyMethodIsCalledByItsCause() async throws {
    let (recorder, second) = (DelegateRecorder(), SecondSpellings())
    let events = Collector<RoomEvent>()
    try await RunningServer.with { server in
      var scene = DelegateScene(server: server, recorder: recorder)
      scene.room.add(delegate: second)
      try await scene.connect(events)
      do {
        try await scene.aliceComesAndSpeaksOfHerself()
        try await scene.alicePublishes()
        try await scene.mediaStopsAndGoesOn()
        try await scene.theConnectionIsCut()
        try await scene.theServerTells()
        try await scene.everyoneGoes()
      } catch {
        await scene.room.disconnect()
        throw error
      }
    }
    #expect(recorder.wasAlwaysAlone)
    #expect(
      second.lines == [
        "participantDidJoin alice", "didSubscribe voice voice", "didSubscribe camera camera",
        "didUpdateIsMuted camera true", "didUpdateIsMuted camera false", "didUnsubscribe camera camera",
        "didSubscribe camera camera", "didUnsubscribe camera camera", "didUnpublishTrack camera",
        "didUnsubscribe voice voice", "didUnpublishTrack voice",
      ])
    #expect(events.values.compactMap(\.permissions) == ["alice may not publish"])
  }

  @Test func aFramesSizeIsTold() async throws {
    let recorder = DelegateRecorder()
    let renderer = VideoFrameHandler { _ in }
    try await Watcher.run(delegate: recorder) { watcher in
      let (camera, _) = try await watcher.tracks()
      camera.add(videoRenderer: renderer)
      try await eventually("the first frame's size") {
        recorder.lines.contains("track didUpdateDimensions camera 640x360")
      }
    }
    #expect(recorder.lines.count { $0.contains("didUpdateDimensions") } == 1)
  }

  @Test func delegatesAreHeldWeaklyAndCanBeRemoved() async throws {
    let stays = DelegateRecorder()
    let goes = DelegateRecorder()
    try await Watcher.run(delegate: stays) { watcher in
      let (camera, _) = try await watcher.tracks()
      let alice = try #require(watcher.room.remoteParticipants["alice"])
      try await eventually("word of the connection and of both tracks") {
        stays.lines.contains("roomDidConnect")
          && stays.lines.count { $0.hasPrefix("participant didSubscribeTrack") } == 2
      }
      var isForgotten: DelegateRecorder? = DelegateRecorder()
      weak let forgotten = isForgotten
      for delegate in [stays, goes, isForgotten!] {
        watcher.room.delegates.add(delegate: delegate)
        alice.delegates.add(delegate: delegate)
        camera.delegates.add(delegate: delegate)
      }
      watcher.room.remove(delegate: goes)
      alice.delegates.remove(delegate: goes)
      camera.delegates.remove(delegate: goes)
      isForgotten = nil
      #expect(forgotten == nil)
      let mark = stays.lines.count
      watcher.tell { ($0.mute.sid, $0.mute.muted) = (camera.sid ?? "", true) }
      let expected = [
        "didUpdateIsMuted alice camera true", "didUpdateStreamState alice camera paused",
        "didDisableVideo alice camera publisherPropertyChanged",
      ]
      .flatMap { ["room \($0)", "participant \($0)"] }
      try? await eventually { expected.allSatisfy(stays.lines.dropFirst(mark).contains) }
      // Once each, although the room's was there before. The microphone may pause on a busy machine.
      #expect(stays.lines.dropFirst(mark).filter { !$0.contains("didUpdateStreamState alice microphone") } == expected)
      #expect(goes.lines.isEmpty)
    }
  }
}

extension RoomEvent {
  fileprivate var permissions: String? {
    guard case .participantPermissionsChanged(let participant, let permissions) = self else { return nil }
    return "\(participant.identity ?? "") may \(permissions.canPublish ? "" : "not ")publish"
  }
}

/// A room of ours with a delegate, and another client that gives causes.
private struct DelegateScene {
  let server: RunningServer
  let recorder: DelegateRecorder
  let room: Room
  private var client: RoomClient?
  /// What is to be told, so far.
  private var expected: [String] = []

  init(server: RunningServer, recorder: DelegateRecorder) {
    (self.server, self.recorder) = (server, recorder)
    let options = RoomOptions(adaptiveStream: false, reportRemoteTrackStatistics: true, audioPlayback: .off)
    room = Room(delegate: recorder, roomOptions: options)
  }

  /// - Parameter calls: of the room's delegate, or of the participant's; `both` is the one and then the other.
  private mutating func follow(_ calls: String..., after cause: () async throws -> Void) async throws {
    let lines = calls.flatMap { call in
      call.hasPrefix("both") ? ["room", "participant"].map { $0 + call.dropFirst(4) } : [call]
    }
    expected += lines
    let count = expected.count
    try await cause()
    try? await eventually { [recorder] in recorder.lines.count >= count }
    try #require(Array(recorder.lines.dropFirst(count - lines.count)) == lines)
  }

  private func tell(_ fill: (inout Livekit_SignalResponse) -> Void) {
    var response = Livekit_SignalResponse()
    fill(&response)
    server.server.tell(response, to: Watcher.identity)
  }

  private func alice() throws -> RoomClient { try #require(client) }

  private func sid(of cid: String) throws -> String {
    try #require(try alice().log.withLock { $0.published[cid]?.sid })
  }

  mutating func connect(_ events: Collector<RoomEvent>) async throws {
    let (room, server) = (room, server)
    try await follow(
      "room didUpdateConnectionState disconnected connecting", "room didUpdateConnectionState connecting disconnected",
      "room didFailToConnectWithError network"
    ) { try? await room.connect(url: "ws://127.0.0.1:1", token: "a.b.c") }
    let stream = room.events
    Task { for await event in stream { events.add(event) } }
    try await follow(
      "room didUpdateConnectionState disconnected connecting", "room didUpdateConnectionState connecting connected",
      "roomDidConnect"
    ) {
      let token = try server.token(Watcher.identity, .onlooker(room: "room"))
      try await room.connect(url: server.url, token: token)
    }
  }

  mutating func aliceComesAndSpeaksOfHerself() async throws {
    let server = server
    var joined: RoomClient?
    try await follow("room participantDidConnect alice") {
      joined = try await RoomClient.join(server, as: "alice") { $0.canUpdateOwnMetadata = true }
    }
    client = joined
    let alice = try alice()
    try await follow("both didUpdateName alice Alice") { alice.send { $0.updateMetadata.name = "Alice" } }
    try await follow("both didUpdateMetadata alice curious") { alice.send { $0.updateMetadata.metadata = "curious" } }
    try await follow("both didUpdateAttributes alice size=small") {
      alice.send { $0.updateMetadata.attributes = ["size": "small"] }
    }
    try await follow("both didUpdateAttributes alice size=") {
      alice.send { $0.updateMetadata.attributes = ["size": ""] }
    }
    try await follow("both didReceiveData alice hello chat") { try await alice.sendMessage("hello") }
  }

  mutating func alicePublishes() async throws {
    let alice = try alice()
    for (cid, publication) in [("voice", Publication.Description.audio("voice")), ("camera", .video("camera"))] {
      try await follow("both didPublishTrack alice \(cid)", "both didSubscribeTrack alice \(cid)") {
        _ = try await alice.publish(publication)
      }
    }
    try await follow("participant didUpdateIsSpeaking alice true", "room didUpdateSpeakingParticipants alice") {
      _ = await alice.with("voice") { $0.level = 10 }
    }
    try await follow("participant didUpdateIsSpeaking alice false", "room didUpdateSpeakingParticipants ") {
      _ = await alice.with("voice") { $0.level = 127 }
    }
    let all: Set = ["room camera video", "track camera video", "track voice audio"]
    try await eventually("statistics, of audio to the track's delegate alone") { [recorder] in
      recorder.measured == all
    }
  }

  mutating func mediaStopsAndGoesOn() async throws {
    let alice = try alice()
    let camera = try sid(of: "camera")
    try await follow(
      "both didUpdateIsMuted alice camera true", "both didUpdateStreamState alice camera paused",
      "both didDisableVideo alice camera publisherPropertyChanged"
    ) { alice.send { ($0.mute.sid, $0.mute.muted) = (camera, true) } }
    try await follow(
      "both didUpdateIsMuted alice camera false", "both didUpdateStreamState alice camera active",
      "both didEnableVideo alice camera publisherPropertyChanged"
    ) { alice.send { ($0.mute.sid, $0.mute.muted) = (camera, false) } }
    try await follow("both didLoseStream alice camera camera", "both didUpdateStreamState alice camera paused") {
      _ = await alice.with("camera") { $0.setSending(false, layer: 0) }
    }
    try await follow("both didRestoreStream alice camera camera", "both didUpdateStreamState alice camera active") {
      _ = await alice.with("camera") { $0.setSending(true, layer: 0) }
    }
    let voice = try sid(of: "voice")
    try await follow(
      "both didUpdateIsSubscriptionAllowed alice camera false",
      "both didFailToSubscribeTrackWithSid alice camera permissionDenied", "both didUnsubscribeTrack alice camera"
    ) {
      var permission = Livekit_TrackPermission()
      (permission.participantIdentity, permission.trackSids) = (Watcher.identity, [voice])
      alice.send { [permission] in $0.subscriptionPermission.trackPermissions = [permission] }
    }
    try await follow("both didUpdateIsSubscriptionAllowed alice camera true", "both didSubscribeTrack alice camera") {
      alice.send { $0.subscriptionPermission.allParticipants = true }
    }
  }

  mutating func theConnectionIsCut() async throws {
    let server = server
    try await follow(
      "room didUpdateConnectionState connected reconnecting", "roomIsReconnecting",
      "room didStartReconnectWithMode quick", "room didUpdateConnectionState reconnecting connected",
      "room didCompleteReconnectWithMode quick", "roomDidReconnect"
    ) { server.server.cutSignal(of: Watcher.identity) }
  }

  /// What the development server has no cause for of its own.
  mutating func theServerTells() async throws {
    let scene = self
    try await follow("room didUpdateMetadata tea", "room didUpdateIsRecording true") {
      scene.tell { ($0.roomUpdate.room.metadata, $0.roomUpdate.room.activeRecording) = ("tea", true) }
    }
    let alice = try #require(room.remoteParticipants["alice"])
    try await follow("both didUpdateConnectionQuality alice poor") {
      var info = Livekit_ConnectionQualityInfo()
      (info.participantSid, info.quality) = (alice.sid, .poor)
      scene.tell { [info] in $0.connectionQuality.updates = [info] }
    }
    for (state, change) in [("paused", "didDisableVideo"), ("active", "didEnableVideo")] {
      let camera = try sid(of: "camera")
      try await follow(
        "both didUpdateStreamState alice camera \(state)", "both \(change) alice camera qualityChanged"
      ) {
        var info = Livekit_StreamStateInfo()
        (info.trackSid, info.state) = (camera, state == "paused" ? .paused : .active)
        scene.tell { [info] in $0.streamStateUpdate.streamStates = [info] }
      }
    }
    let camera = try sid(of: "camera")
    try await follow("both didFailToSubscribeTrackWithSid alice camera trackNotFound") {
      scene.tell { ($0.subscriptionResponse.trackSid, $0.subscriptionResponse.err) = (camera, .seTrackNotfound) }
    }
  }

  mutating func everyoneGoes() async throws {
    let (scene, alice) = (self, try alice())
    try await follow("both didUnsubscribeTrack alice camera", "both didUnpublishTrack alice camera") {
      try await alice.unpublish("camera")
    }
    try await follow("both didUpdatePermissions alice data,metadata,subscribe") {
      var info = try #require(alice.log.withLock { $0.participants["alice"] })
      (info.permission.canPublish, info.version) = (false, .max)
      scene.tell { [info] in $0.update.participants = [info] }
    }
    try await follow(
      "both didUnsubscribeTrack alice voice", "both didUnpublishTrack alice voice",
      "room participantDidDisconnect alice"
    ) { await alice.leave() }
    try await follow(
      "room didUpdateConnectionState connected disconnected", "room didDisconnectWithError participantRemoved"
    ) { scene.tell { ($0.leave.reason, $0.leave.action) = (.participantRemoved, .disconnect) } }
  }
}
