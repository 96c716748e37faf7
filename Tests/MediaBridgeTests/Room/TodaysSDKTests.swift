import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Has every method of today's LiveKit Swift SDK whose types exist here, with its signature, and notes that it was called.
private final class TodaysDelegate: RoomDelegate, ParticipantDelegate, TrackDelegate, Sendable {
  private let called = Locked<Set<String>>([])
  var calls: Set<String> { called.withLock { $0 } }
  private func note(_ method: String = #function) { called.withLock { _ = $0.insert(method) } }

  func room(_: Room, didUpdateConnectionState _: ConnectionState, from _: ConnectionState) { note() }
  func roomDidConnect(_: Room) { note() }
  func roomIsReconnecting(_: Room) { note() }
  func roomDidReconnect(_: Room) { note() }
  func room(_: Room, didStartReconnectWithMode _: ReconnectMode) { note() }
  func room(_: Room, didCompleteReconnectWithMode _: ReconnectMode) { note() }
  func room(_: Room, didUpdateReconnectMode _: ReconnectMode) { note() }
  func room(_: Room, didFailToConnectWithError _: LiveKitError?) { note() }
  func room(_: Room, didDisconnectWithError _: LiveKitError?) { note() }
  func room(_: Room, didUpdateMetadata _: String?) { note() }
  func room(_: Room, didUpdateIsRecording _: Bool) { note() }
  func room(_: Room, didMoveToRoomNamed _: String) { note() }
  func room(_: Room, participantDidConnect _: RemoteParticipant) { note() }
  func room(_: Room, participantDidDisconnect _: RemoteParticipant) { note() }
  func room(_: Room, didUpdateSpeakingParticipants _: [Participant]) { note() }
  func room(_: Room, participant _: Participant, didUpdateMetadata _: String?) { note() }
  func room(_: Room, participant _: Participant, didUpdateName _: String) { note() }
  func room(_: Room, participant _: Participant, didUpdateState _: ParticipantState) { note() }
  func room(_: Room, participant _: Participant, didUpdateConnectionQuality _: ConnectionQuality) { note() }
  func room(_: Room, participant _: Participant, didUpdatePermissions _: ParticipantPermissions) { note() }
  func room(_: Room, participant _: Participant, didUpdateAttributes _: [String: String]) { note() }
  func room(_: Room, participant _: LocalParticipant, didPublishTrack _: LocalTrackPublication) { note("local") }
  func room(_: Room, participant _: RemoteParticipant, didPublishTrack _: RemoteTrackPublication) { note() }
  func room(_: Room, participant _: LocalParticipant, didUnpublishTrack _: LocalTrackPublication) { note("local un") }
  func room(_: Room, participant _: LocalParticipant, remoteDidSubscribeTrack _: LocalTrackPublication) { note() }
  func room(_: Room, participant _: RemoteParticipant, didUnpublishTrack _: RemoteTrackPublication) { note() }
  func room(_: Room, participant _: RemoteParticipant, didSubscribeTrack _: RemoteTrackPublication) { note() }
  func room(_: Room, participant _: RemoteParticipant, didUnsubscribeTrack _: RemoteTrackPublication) { note() }
  func room(
    _: Room, participant _: RemoteParticipant, didFailToSubscribeTrackWithSid _: Track.Sid, error _: LiveKitError
  ) { note() }
  func room(
    _: Room, participant _: RemoteParticipant?, didReceiveData _: Data, forTopic _: String,
    encryptionType _: EncryptionType
  ) { note() }
  func room(_: Room, participant _: Participant, trackPublication _: TrackPublication, didUpdateIsMuted _: Bool) {
    note()
  }
  func room(
    _: Room, participant _: RemoteParticipant, trackPublication _: RemoteTrackPublication,
    didUpdateStreamState _: StreamState
  ) { note() }
  func room(
    _: Room, participant _: RemoteParticipant, trackPublication _: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed _: Bool
  ) { note() }

  func room(
    _: Room, participant _: Participant, trackPublication _: TrackPublication,
    didReceiveTranscriptionSegments _: [TranscriptionSegment]
  ) { note() }

  func participant(_: Participant, didUpdateMetadata _: String?) { note() }
  func participant(_: Participant, didUpdateName _: String) { note() }
  func participant(_: Participant, didUpdateIsSpeaking _: Bool) { note() }
  func participant(_: Participant, didUpdateState _: ParticipantState) { note() }
  func participant(_: Participant, didUpdateConnectionQuality _: ConnectionQuality) { note() }
  func participant(_: Participant, didUpdatePermissions _: ParticipantPermissions) { note() }
  func participant(_: Participant, didUpdateAttributes _: [String: String]) { note() }
  func participant(_: Participant, trackPublication _: TrackPublication, didUpdateIsMuted _: Bool) { note() }
  func participant(_: LocalParticipant, didPublishTrack _: LocalTrackPublication) { note("own local") }
  func participant(_: LocalParticipant, didUnpublishTrack _: LocalTrackPublication) { note("own local un") }
  func participant(_: LocalParticipant, remoteDidSubscribeTrack _: LocalTrackPublication) { note() }
  func participant(_: LocalParticipant, didMoveToRoomNamed _: String) { note() }
  func participant(_: RemoteParticipant, didPublishTrack _: RemoteTrackPublication) { note() }
  func participant(_: RemoteParticipant, didUnpublishTrack _: RemoteTrackPublication) { note() }
  func participant(_: RemoteParticipant, didSubscribeTrack _: RemoteTrackPublication) { note() }
  func participant(_: RemoteParticipant, didUnsubscribeTrack _: RemoteTrackPublication) { note() }
  func participant(
    _: RemoteParticipant, didFailToSubscribeTrackWithSid _: Track.Sid, error _: LiveKitError
  ) { note() }
  func participant(
    _: RemoteParticipant, trackPublication _: RemoteTrackPublication, didUpdateStreamState _: StreamState
  ) { note() }
  func participant(
    _: RemoteParticipant, trackPublication _: RemoteTrackPublication, didUpdateIsSubscriptionAllowed _: Bool
  ) { note() }
  func participant(
    _: RemoteParticipant, didReceiveData _: Data, forTopic _: String, encryptionType _: EncryptionType
  ) { note() }
  func participant(
    _: Participant, trackPublication _: TrackPublication, didReceiveTranscriptionSegments _: [TranscriptionSegment]
  ) { note() }

  func track(
    _: Track, didUpdateStatistics _: TrackStatistics, simulcastStatistics _: [VideoCodec: TrackStatistics]
  ) { note() }

  static let methods = 56
}

/// What a program after today's SDK uses compiles, and is called.
@Suite struct TodaysSDKTests {
  @Test func everyMethodOfTodaysDelegatesIsCalled() async throws {
    let delegate = TodaysDelegate()
    let room = Room(
      delegate: delegate, connectOptions: ConnectOptions(), roomOptions: RoomOptions(audioPlayback: .off))
    let events = TodaysEvents(room: room)
    events.add(delegate)
    for event in events.all {
      event.whileTold {
        event.tell(delegate, of: room)
        event.tellParticipant()
        event.tell(room.localParticipant)
        event.tellTrack()
      }
    }
    #expect(delegate.calls.count == TodaysDelegate.methods, "called: \(delegate.calls.sorted())")
  }

  /// A start is told once, a change of how as such.
  @Test func aChangedReconnectModeIsNoSecondStart() {
    let (delegate, room) = (TodaysDelegate(), Room())
    RoomEvent.reconnectModeChanged(.full).tell(delegate, of: room)
    #expect(delegate.calls == ["room(_:didUpdateReconnectMode:)"])
    RoomEvent.reconnecting(.quick).tell(delegate, of: room)
    #expect(delegate.calls.contains("room(_:didStartReconnectWithMode:)"))
  }

  @Test func whatAServerSaysOfItselfIsKept() {
    var details = RoomDetails()
    var join = Livekit_JoinResponse()
    details.learn(join)
    #expect(details.server.region == nil && details.server.version == nil)
    join.serverRegion = "older"
    details.learn(join)
    #expect(details.server.region == "older")
    (join.serverInfo.region, join.serverInfo.version, join.serverInfo.nodeID) = ("de", "1.13.5", "ND_1")
    details.learn(join)
    #expect(details.server.region == "de" && details.server.version == "1.13.5" && details.server.node == "ND_1")
  }

  @Test func errorsHaveTheTypesOfTodaysSDK() {
    let errors: [(LiveKitError.Code, LiveKitErrorType)] = [
      (.timedOut, .timedOut), (.unauthorized, .validation), (.permissionDenied, .insufficientPermissions),
      (.duplicateIdentity, .duplicateIdentity), (.output, .unknown),
    ]
    for (code, type) in errors { #expect(LiveKitError(code, "").type == type) }
    let cause = LiveKitError(.network, "refused")
    #expect(LiveKitError(.disconnected, "lost", underlying: cause).internalError as? LiveKitError == cause)
  }

  @Test func samplesOfOnesOwnMakeABuffer() throws {
    let buffer = try #require(AudioPCMBuffer(int16: [1, -1, 16_384, 0], sampleRate: 48_000, channels: 2))
    #expect(buffer.frameLength == 2 && buffer.format.channelCount == 2 && buffer.format.sampleRate == 48_000)
    let channels = try #require(buffer.floatChannelData)
    #expect(channels[0][1] == 0.5 && channels[1][1] == 0)
    let six = AudioPCMBuffer(floats: [Float](repeating: 0.25, count: 60), sampleRate: 8000, channels: 6)
    #expect(six?.frameLength == 10)
    #expect(AudioPCMBuffer(int16: [1, 2, 3], sampleRate: 48_000, channels: 2) == nil)
    #expect(AudioPCMBuffer(floats: [], sampleRate: 48_000, channels: 1) == nil)
    #expect(AudioPCMBuffer(floats: [0], sampleRate: 0, channels: 1) == nil)
  }

  @Test func whatAParticipantSaysOfItselfIsTold() async throws {
    try await RunningServer.with { server in
      let (alice, bob) = (Room(), Room())
      var grant = VideoGrant.publisher(room: "room")
      try await bob.connect(url: server.url, token: try server.token("bob", grant))
      await #expect(throws: LiveKitError.self) { try await bob.localParticipant.set(name: "Bob") }
      grant.canUpdateOwnMetadata = true
      try await alice.connect(url: server.url, token: try server.token("alice", grant))
      let local = alice.localParticipant
      try await local.set(name: "Alice")
      try await local.set(metadata: "curious")
      try await local.set(attributes: ["size": "small", "mood": "fine"])
      try await local.set(attributes: ["size": ""])
      try await eventually("what alice says of herself") {
        let seen = bob.remoteParticipants["alice"]
        return seen?.name == "Alice" && seen?.metadata == "curious" && seen?.attributes == ["mood": "fine"]
          && seen?.state == .active && local.name == "Alice"
      }
      #expect(alice.serverVersion != nil && alice.url == server.url)
      #expect(alice.allParticipants.keys.sorted() == ["alice", "bob"])
      let states = Collector(alice.events) { event -> ConnectionState? in
        if case .connectionStateChanged(let state, _) = event { state } else { nil }
      }
      await alice.disconnect()
      try await eventually("the end") { states.values == [.disconnecting, .disconnected] }
      await bob.disconnect()
    }
  }
}

/// One of each event, about participants and tracks that nobody has published.
private struct TodaysEvents {
  let room: Room
  private let alice = RemoteParticipant(info: .init(sid: "PA_1", identity: "alice"))
  private let remote: RemoteTrackPublication
  private let local: LocalTrackPublication
  private let track = LocalVideoTrack.createBufferTrack()

  init(room: Room) {
    self.room = room
    let info = TrackInfo(
      sid: "TR_1", name: "camera", kind: .video, source: .camera, mimeType: "video/VP8", mimeTypes: [], isMuted: false,
      dimensions: nil, simulcasted: false, layers: [])
    let session = RoomSession(room: room, options: RoomOptions(), connect: ConnectOptions())
    remote = RemoteTrackPublication(Subscription(info, of: "alice", isWanted: true), requests: session)
    local = LocalTrackPublication(info: info, track: track, session: session)
  }

  func add(_ delegate: TodaysDelegate) {
    alice.delegates.add(delegate: delegate)
    room.localParticipant.delegates.add(delegate: delegate)
    track.delegates.add(delegate: delegate)
  }

  var all: [RoomEvent] {
    let error = LiveKitError(.network, "")
    return [
      .connectionStateChanged(.reconnecting, from: .connected), .connected, .connectionFailed(error),
      .disconnected(nil), .reconnecting(.quick), .reconnectModeChanged(.full), .reconnected(.quick),
      .roomMetadataChanged("m"), .recordingChanged(isRecording: true), .roomMoved("other"), .activeSpeakersChanged([]),
      .speakingChanged(alice, isSpeaking: true),
      .participantConnected(alice), .participantDisconnected(alice), .participantNameChanged(alice, "a"),
      .participantMetadataChanged(alice, "m"), .participantAttributesChanged(alice, [:]),
      .participantStateChanged(alice, .active), .participantPermissionsChanged(alice, ParticipantPermissions()),
      .connectionQualityChanged(alice, .good), .trackPublished(alice, remote), .trackUnpublished(alice, remote),
      .subscriptionFailed(alice, trackSid: "TR_1", error), .muteChanged(alice, remote, isMuted: true),
      .subscriptionAllowedChanged(alice, remote, isAllowed: true), .streamStateChanged(alice, remote, .paused),
      .localTrackPublished(local), .localTrackUnpublished(local), .localTrackSubscribed(local),
      .dataReceived(alice, Data(), topic: "t"), .transcriptionReceived(alice, remote, []),
      .trackSubscribed(alice, remote, track), .trackUnsubscribed(alice, remote, track),
      .statisticsUpdated(track, TrackStatistics()),
    ]
  }
}
