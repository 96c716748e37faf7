import BridgeTesting
import DevServer
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// A connection that is lost, and what is as before when it is back.
@Suite struct ReconnectionTests {
  private struct Scene {
    let synthetic: SyntheticRoom
    let room: Room
    let told: Collector<RoomEvent>
    let asked: Collector<Livekit_SignalRequest>
    let publication: RemoteTrackPublication
    let track: RemoteVideoTrack
    let screen: VideoFrameHandler
    let frames: Locked<Int>

    func frames(_ what: String) async throws {
      let before = frames.withLock { $0 }
      try await eventually("frames \(what)", within: .seconds(20)) { frames.withLock { $0 } > before + 10 }
    }

    /// Reconnecting and reconnected, in order.
    var course: [String] {
      told.values.compactMap { event in
        switch event {
        case .reconnecting(let mode): "reconnecting \(mode)"
        case .reconnectModeChanged(let mode): "by \(mode)"
        case .reconnected(let mode): "reconnected \(mode)"
        case .connectionStateChanged(let state, from: _): "\(state)"
        default: nil
        }
      }
    }

    /// What would make a program believe that a track is another one.
    var subscriptions: [String] {
      told.values.compactMap { event in
        switch event {
        case .trackSubscribed(_, let publication, _): "+\(publication.kind)"
        case .trackUnsubscribed(_, let publication, _): "-\(publication.kind)"
        case .trackUnpublished, .participantDisconnected: "gone"
        default: nil
        }
      }.sorted()
    }

    /// What a program is told of media that stops and goes on.
    var interruptions: [String] {
      told.values.compactMap { event in
        switch event {
        case .streamLost(_, let publication, _) where publication.kind == .video: "lost"
        case .streamRestored(_, let publication, _) where publication.kind == .video: "restored"
        case .videoDisabled(_, _, let reason): "disabled: \(reason)"
        case .streamStateChanged(_, let publication, .paused) where publication.kind == .video: "paused"
        default: nil
        }
      }
    }

    func tell(_ action: Livekit_LeaveRequest.Action, _ reason: Livekit_DisconnectReason = .unknownReason) {
      var response = Livekit_SignalResponse()
      response.leave.action = action
      response.leave.reason = reason
      synthetic.server.tell(response, to: "watcher")
    }

    func back(_ mode: ReconnectMode) async throws {
      try await eventually("the connection", within: .seconds(20)) {
        course.suffix(2) == ["connected", "reconnected \(mode)"]
      }
    }
  }

  private static let first = ["connecting", "connected"]
  private static let quick = ["reconnecting", "reconnecting quick", "connected", "reconnected quick"]
  private static let full = ["reconnecting", "reconnecting full", "connected", "reconnected full"]

  private func run(
    options: RoomOptions = RoomOptions(adaptiveStream: false), connect: ConnectOptions = ConnectOptions(),
    _ body: (Scene) async throws -> Void
  ) async throws {
    let asked = Collector<Livekit_SignalRequest>()
    let synthetic = try await SyntheticRoom.start { if $0 == "watcher" { asked.add($1) } }
    let room = Room(roomOptions: options)
    let told = Collector<RoomEvent>()
    let teller = Task { [events = room.events] in for await event in events { told.add(event) } }
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"), connectOptions: connect)
    let camera = try await eventually("the camera") { room.remoteParticipants["alice"]?.videoTracks.first }
    let microphone = try await eventually("the microphone") { room.remoteParticipants["alice"]?.audioTracks.first }
    if connect.autoSubscribe == false {
      for publication in [camera, microphone] { try await publication.set(subscribed: true) }
    }
    let publication = try await eventually("the camera's media") { camera.isSubscribed ? camera : nil }
    let track = try #require(publication.track as? RemoteVideoTrack)
    let frames = Locked(0)
    let screen = VideoFrameHandler { _ in frames.withLock { $0 += 1 } }
    track.add(videoRenderer: screen)
    let scene = Scene(
      synthetic: synthetic, room: room, told: told, asked: asked, publication: publication, track: track,
      screen: screen, frames: frames)
    try await scene.frames("before")
    try await eventually("the audio") { scene.subscriptions == ["+audio", "+video"] }
    do { try await body(scene) } catch {
      await room.disconnect()
      await synthetic.stop()
      throw error
    }
    await room.disconnect()
    await teller.value
    await synthetic.stop()
  }

  @Test func aSessionWhoseSignalIsCutGoesOn() async throws {
    try await run { scene in
      scene.synthetic.server.cutSignal(of: "watcher")
      try await scene.back(.quick)
      try await scene.frames("afterwards")
      #expect(scene.course == Self.first + Self.quick)
      #expect(scene.subscriptions == ["+audio", "+video"])
      #expect(scene.publication.track === scene.track)
      // It can be lost again.
      scene.synthetic.server.cutSignal(of: "watcher")
      try await eventually("the connection") { scene.course == Self.first + Self.quick + Self.quick }
      try await scene.frames("after the second time")
    }
  }

  @Test(arguments: [
    (Livekit_LeaveRequest.Action.resume, Livekit_DisconnectReason.unknownReason, quick),
    (.disconnect, .migration, quick), (.reconnect, .stateMismatch, full),
  ])
  func aServerMayAskForIt(
    _ action: Livekit_LeaveRequest.Action, _ reason: Livekit_DisconnectReason, _ course: [String]
  ) async throws {
    try await run { scene in
      scene.tell(action, reason)
      try await eventually("the connection", within: .seconds(20)) { scene.course == Self.first + course }
      try await scene.frames("afterwards")
      #expect(scene.subscriptions == ["+audio", "+video"])
      #expect(scene.publication.track === scene.track)
      // A session that goes on has its media all the time; in a new one it stops, and is back.
      let interruptions = course == Self.quick ? [] : ["lost", "paused", "restored"]
      try await eventually("the stream") { scene.interruptions == interruptions }
    }
  }

  @Test func whatIsWantedIsKeptInANewSession() async throws {
    try await run { scene in
      let microphone = try #require(scene.room.remoteParticipants["alice"]?.audioTracks.first)
      try await microphone.set(subscribed: false)
      try await eventually("the audio to go") { microphone.track == nil }
      try await scene.publication.set(videoQuality: .low)
      let before = scene.asked.count
      scene.tell(.reconnect)
      try await scene.back(.full)
      try await scene.frames("afterwards")
      @Sendable func asked() -> ArraySlice<Livekit_SignalRequest> { scene.asked.values.dropFirst(before) }
      try await eventually("the settings") {
        asked().contains { $0.trackSetting.trackSids == [scene.publication.sid] && $0.trackSetting.quality == .low }
      }
      #expect(scene.publication.videoQuality == .low)
      #expect(asked().contains { $0.subscription.trackSids == [microphone.sid] && !$0.subscription.subscribe })
      #expect(microphone.track == nil)
      #expect(scene.subscriptions == ["+audio", "+video", "-audio"])
      // The server of the new session has not kept it either.
      try await microphone.set(subscribed: true)
      try await eventually("the audio again") { microphone.isSubscribed }
    }
  }

  @Test func statisticsGoOnInANewSession() async throws {
    try await run { scene in
      let microphone = try #require(
        scene.room.remoteParticipants["alice"]?.audioTracks.first?.track as? RemoteAudioTrack)
      let listener = AudioBufferHandler { _ in }
      microphone.add(audioRenderer: listener)
      for track in [scene.track, microphone] { await track.set(reportStatistics: true) }
      @Sendable func told(_ track: Track) -> [InboundRtpStreamStatistics] {
        scene.told.values.compactMap { event in
          guard case .statisticsUpdated(let whose, let statistics) = event, whose === track else { return nil }
          return statistics.inboundRtp?.first
        }
      }
      @Sendable func tell(_ count: Int) async throws {
        let before = [told(scene.track).count, told(microphone).count]
        try await eventually("\(count) more statistics") {
          told(scene.track).count >= before[0] + count && told(microphone).count >= before[1] + count
        }
      }
      try await tell(2)
      for _ in 0..<2 {
        let before = told(scene.track).count
        scene.tell(.reconnect)
        try await eventually("the new stream", within: .seconds(20)) {
          let sources = told(scene.track).suffix(from: before).map(\.ssrc)
          return sources.last.map { $0 != nil && $0 != told(scene.track)[before - 1].ssrc } ?? false
        }
        try await tell(2)
      }
      for track in [scene.track, microphone] {
        let all = told(track)
        #expect(Set(all.map(\.ssrc)).subtracting([nil]).count == 3)
        for (before, now) in zip(all, all.dropFirst()) { checkNothingIsLess(now, before) }
      }
      let last = try #require(told(scene.track).last)
      // It has decoded in all three sessions, of which each sends a keyframe at its beginning.
      #expect(last.framesDecoded ?? 0 > 50 && last.bps > 0 && last.trackIdentifier == scene.track.sid)
      #expect(told(microphone).last?.totalSamplesDuration ?? 0 > 3)
    }
  }

  private func checkNothingIsLess(_ now: InboundRtpStreamStatistics, _ before: InboundRtpStreamStatistics) {
    for count in [\.packetsReceived, \.bytesReceived, \.packetsDiscarded, \.totalSamplesReceived]
      as [KeyPath<InboundRtpStreamStatistics, UInt64?>]
    {
      #expect(now[keyPath: count] ?? 0 >= before[keyPath: count] ?? 0, "\(count)")
    }
    for count in [\.framesReceived, \.framesDecoded, \.framesDropped, \.pliCount, \.nackCount, \.freezeCount]
      as [KeyPath<InboundRtpStreamStatistics, UInt?>]
    {
      #expect(now[keyPath: count] ?? 0 >= before[keyPath: count] ?? 0, "\(count)")
    }
    #expect(now.totalAudioEnergy ?? 0 >= before.totalAudioEnergy ?? 0)
  }

  /// The lists of a resumed session are what the program wants, not what has arrived.
  @Test func aResumedSessionUnsubscribesNothingThatIsStillComing() async throws {
    try await run { scene in
      let microphone = try #require(scene.room.remoteParticipants["alice"]?.audioTracks.first)
      try await microphone.set(subscribed: false)
      try await eventually("the audio to go") { microphone.track == nil }
      // Its media is not there when the signal is cut.
      try await microphone.set(subscribed: true)
      try await eventually("the request") { scene.asked.values.contains { $0.subscription.subscribe } }
      scene.synthetic.server.cutSignal(of: "watcher")
      try await scene.back(.quick)
      try await eventually("the state") { scene.asked.values.contains { $0.syncState.hasSubscription } }
      try await eventually("the audio") { microphone.isSubscribed }
      let states = scene.asked.values.filter { if case .syncState = $0.message { true } else { false } }
      #expect(states.map(\.syncState.subscription.trackSids) == [[]])
      #expect(states.allSatisfy { !$0.syncState.offer.sdp.isEmpty && !$0.syncState.answer.sdp.isEmpty })
    }
  }

  /// Before the loss is known, while the session is resumed, or when it is back.
  @Test func whateverIsAskedForAroundALossIsDone() async throws {
    try await run(connect: ConnectOptions(reconnectAttemptDelay: 0)) { scene in
      for round in 0..<8 {
        scene.synthetic.server.cutSignal(of: "watcher")
        try await Task.sleep(for: .milliseconds(round / 2 * 3))
        let (before, isWanted) = (scene.publication.isWanted, round % 2 == 1)
        do { try await scene.publication.set(subscribed: isWanted) } catch {
          // Refused, and then nothing has changed.
          #expect(scene.publication.isWanted == before)
        }
        let isExpected = scene.publication.isWanted
        try await eventually("round \(round)") { (scene.publication.track != nil) == isExpected }
      }
      try await scene.back(.quick)
      try await scene.publication.set(subscribed: true)
      try await eventually("the track") { scene.publication.track != nil }
    }
  }

  @Test func whoLeavesMeanwhileIsGoneAfterwards() async throws {
    try await run { scene in
      let guest = Room()
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await guest.connect(url: scene.synthetic.url, token: try SyntheticRoom.token("guest", grant))
      try await eventually("the guest") { scene.room.remoteParticipants["guest"] != nil }
      scene.synthetic.server.cutSignal(of: "watcher")
      await guest.disconnect()
      try await eventually("the guest to be gone") { scene.room.remoteParticipants["guest"] == nil }
      try await scene.back(.quick)
      #expect(scene.room.remoteParticipants["alice"] != nil)
    }
  }

  @Test func aServerThatStartsAgainIsJoinedAgain() async throws {
    try await run { scene in
      await scene.synthetic.server.stop()
      try await eventually("the loss") { scene.room.connectionState == .reconnecting }
      let second = try await SyntheticRoom.start(port: scene.synthetic.port)
      try await scene.back(.full)
      // Alice may come later than we.
      try await scene.frames("of the second server")
      #expect(scene.room.remoteParticipants["alice"]?.videoTracks.first === scene.publication)
      #expect(scene.publication.track === scene.track && scene.track.sid == scene.publication.sid)
      #expect(scene.subscriptions == ["+audio", "+video"])
      #expect(scene.course == Self.first + Self.full)
      await scene.room.disconnect()
      await second.stop()
    }
  }

  /// Nothing is subscribed by itself, as in a recording; alice comes after us, with other SIDs.
  @Test func aManualSubscriptionIsAskedForAgainWhenItsPublisherIsLate() async throws {
    try await run(connect: ConnectOptions(autoSubscribe: false)) { scene in
      await scene.synthetic.server.stop()
      let second = try await SyntheticRoom.start(codecs: [:], port: scene.synthetic.port)
      try await scene.back(.full)
      let alice = try await second.join("alice")
      try await scene.frames("of the second server")
      #expect(scene.publication.track === scene.track)
      await scene.room.disconnect()
      await alice.disconnect()
      await second.stop()
    }
  }

  /// Also where nothing else of their publisher's is wanted.
  @Test(arguments: [true, false])
  func whatTheProgramUnsubscribedStaysSoOnAServerThatStartsAgain(_ isCameraWanted: Bool) async throws {
    try await run { scene in
      let microphone = try #require(scene.room.remoteParticipants["alice"]?.audioTracks.first)
      let unwanted = isCameraWanted ? [microphone] : [microphone, scene.publication]
      for publication in unwanted { try await publication.set(subscribed: false) }
      try await eventually("the end of them") { scene.subscriptions.count == 2 + unwanted.count }
      let before = scene.subscriptions
      let sids = unwanted.map(\.sid)
      await scene.synthetic.server.stop()
      let asked = Collector<Livekit_UpdateSubscription>()
      let second = try await SyntheticRoom.start(codecs: [:], port: scene.synthetic.port) { identity, request in
        if identity == "watcher", case .subscription(let update) = request.message { asked.add(update) }
      }
      try await scene.back(.full)
      let alice = try await second.join("alice")
      try await eventually("their return") { zip(unwanted, sids).allSatisfy { $0.sid != $1 } }
      for publication in unwanted {
        #expect(scene.room.remoteParticipants["alice"]?.trackPublications[publication.sid] === publication)
        try await eventually("word to the server") {
          asked.values.contains { $0.trackSids.contains(publication.sid) && !$0.subscribe }
        }
      }
      if isCameraWanted { try await scene.frames("of the second server") }
      #expect(scene.subscriptions == before && unwanted.allSatisfy { $0.subscriptionState == .unsubscribed })
      try await microphone.set(subscribed: true)
      try await eventually("the audio") { microphone.isSubscribed }
      await scene.room.disconnect()
      await alice.disconnect()
      await second.stop()
    }
  }

  @Test func whoDoesNotComeBackToAServerThatStartsAgainIsGone() async throws {
    try await run { scene in
      await scene.synthetic.server.stop()
      let second = try await SyntheticRoom.start(codecs: [:], port: scene.synthetic.port)
      try await scene.back(.full)
      #expect(scene.room.remoteParticipants["alice"] != nil)
      try await eventually("the end of the wait", within: .seconds(20)) { scene.room.remoteParticipants.isEmpty }
      #expect(scene.publication.track == nil)
      try await eventually("all of it") {
        scene.subscriptions == ["+audio", "+video", "-audio", "-video", "gone", "gone", "gone"]
      }
      await scene.room.disconnect()
      await second.stop()
    }
  }

  /// One loss is mended once.
  @Test(arguments: [Livekit_LeaveRequest.Action.resume, .reconnect])
  func aServerThatAsksForItIsObeyedOnce(_ action: Livekit_LeaveRequest.Action) async throws {
    try await run { scene in
      let before = scene.asked.count
      scene.tell(action)
      try await scene.back(action == .resume ? .quick : .full)
      try await scene.frames("afterwards")
      @Sendable func count(_ isOne: (Livekit_SignalRequest.OneOf_Message?) -> Bool) -> Int {
        scene.asked.values.dropFirst(before).count { isOne($0.message) }
      }
      @Sendable func answers() -> Int { count { if case .answer = $0 { true } else { false } } }
      // Frames come before, and go on meanwhile.
      try await eventually("the answer") { answers() > 0 }
      #expect(count { if case .syncState = $0 { true } else { false } } == (action == .resume ? 1 : 0))
      #expect(answers() == 1)
    }
  }

  @Test func aServerThatStaysAwayEndsItWithAReason() async throws {
    let quickly = ConnectOptions(reconnectAttempts: 3, reconnectAttemptDelay: 0.05)
    try await run(connect: quickly) { scene in
      await scene.synthetic.stop()
      try await eventually("the end", within: .seconds(20)) { scene.room.connectionState == .disconnected }
      #expect(scene.room.disconnectError?.code == .network)
      #expect(scene.room.disconnectError?.message.contains("nothing answers") == true)
      #expect(scene.room.remoteParticipants.isEmpty && scene.publication.track == nil)
    }
  }

  @Test func noAttemptsMeanTheEnd() async throws {
    try await run(connect: ConnectOptions(reconnectAttempts: 0)) { scene in
      scene.synthetic.server.cutSignal(of: "watcher")
      try await eventually("the end") { scene.room.connectionState == .disconnected }
      #expect(scene.room.disconnectError?.code == .disconnected)
      #expect(!scene.course.contains("reconnecting"))
    }
  }

  enum Dismissal: CaseIterable {
    case removed
    case roomDeleted
    case replaced

    var code: LiveKitError.Code {
      switch self {
      case .removed: .participantRemoved
      case .roomDeleted: .roomDeleted
      case .replaced: .duplicateIdentity
      }
    }
  }

  @Test(arguments: Dismissal.allCases) func whoIsSentAwayStaysAwayAndIsToldWhy(_ dismissal: Dismissal) async throws {
    try await run { scene in
      let other = Room()
      switch dismissal {
      case .removed: scene.synthetic.server.removeParticipant("watcher")
      case .roomDeleted: scene.synthetic.server.deleteRoom(SyntheticRoom.name)
      case .replaced:
        try await other.connect(url: scene.synthetic.url, token: try SyntheticRoom.token("watcher"))
      }
      try await eventually("the end") { scene.room.connectionState == .disconnected }
      #expect(scene.room.disconnectError?.code == dismissal.code)
      #expect(!scene.course.contains("reconnecting"))
      #expect(scene.room.remoteParticipants.isEmpty && scene.publication.track == nil)
      await other.disconnect()
    }
  }

  @Test func aServerThatShutsDownSaysSo() async throws {
    try await run(connect: ConnectOptions(reconnectAttempts: 0)) { scene in
      await scene.synthetic.server.stop()
      try await eventually("the end") { scene.room.connectionState == .disconnected }
      #expect(scene.room.disconnectError?.code == .serverShutDown)
    }
  }

  @Test func itCanBeGivenUpWhileItReconnects() async throws {
    try await run { scene in
      await scene.synthetic.stop()
      try await eventually("the loss") { scene.room.connectionState == .reconnecting }
      let begun = MediaTime.now
      await scene.room.disconnect()
      #expect(scene.room.connectionState == .disconnected && scene.room.disconnectError == nil)
      #expect(MediaTime.now - begun < .seconds(3))
    }
  }

  @Test func delegatesAreToldOnce() async throws {
    try await run { scene in
      let delegate = Witness()
      scene.room.add(delegate: delegate)
      scene.synthetic.server.cutSignal(of: "watcher")
      try await scene.back(.quick)
      try await eventually("the calls") { delegate.calls.count == 4 }
      #expect(delegate.calls.values == ["isReconnecting", "didStart quick", "didComplete quick", "didReconnect"])
    }
  }
}

private final class Witness: RoomDelegate, Sendable {
  let calls = Collector<String>()
  func roomIsReconnecting(_ room: Room) { calls.add("isReconnecting") }
  func roomDidReconnect(_ room: Room) { calls.add("didReconnect") }
  func room(_ room: Room, didStartReconnectWithMode mode: ReconnectMode) { calls.add("didStart \(mode)") }
  func room(_ room: Room, didCompleteReconnectWithMode mode: ReconnectMode) { calls.add("didComplete \(mode)") }
}
