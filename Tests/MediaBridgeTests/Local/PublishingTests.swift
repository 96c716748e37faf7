import BridgeTesting
import LiveKitProtocol
import MediaCore
import PeerTransport
import Testing

@testable import MediaBridge

/// What is published without options, and by two calls at once.
@Suite struct PublishingTests {
  private static let size = ["width": "320", "height": "180", "framerate": "20/1"]

  private func run(_ options: RoomOptions, _ body: (LocalParticipant, Room) async throws -> Void) async throws {
    try await run(options, sources: nil) { synthetic, alice, bob in try await body(alice, bob) }
  }

  /// - Parameter sources: what alice may publish; nil for all.
  private func run(
    _ options: RoomOptions, sources: [String]?,
    _ body: (SyntheticRoom, _ alice: LocalParticipant, _ bob: Room) async throws -> Void
  ) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let (alice, bob) = (Room(roomOptions: options), Room())
    let outcome: Result<Void, any Error>
    do {
      for (room, identity) in [(alice, "alice"), (bob, "bob")] {
        var grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
        if identity == "alice" { grant.canPublishSources = sources }
        try await room.connect(url: synthetic.url, token: try SyntheticRoom.token(identity, grant))
      }
      outcome = .success(try await body(synthetic, alice.localParticipant, bob))
    } catch { outcome = .failure(error) }
    for room in [alice, bob] { await room.disconnect() }
    await synthetic.stop()
    try outcome.get()
  }

  @Test func theRoomsDefaultsAreUsed() async throws {
    let options = RoomOptions(
      defaultCameraCaptureOptions: CameraCaptureOptions(template: "pattern", values: Self.size),
      defaultScreenShareCaptureOptions: ScreenShareCaptureOptions(template: "no-such"),
      defaultAudioCaptureOptions: AudioCaptureOptions(template: "tone"),
      defaultVideoPublishOptions: VideoPublishOptions(name: "picture", preferredCodec: .vp9),
      defaultAudioPublishOptions: AudioPublishOptions(name: "sound"),
      defaultDataPublishOptions: DataPublishOptions(topic: "news", reliable: true))
    try await run(options) { alice, bob in
      let topics = Collector<String>()
      let events = bob.events
      Task { for await case .dataReceived(_, _, let topic) in events { topics.add(topic) } }
      let camera = try #require(try await alice.setCamera(enabled: true))
      let microphone = try #require(try await alice.setMicrophone(enabled: true))
      #expect(camera.name == "picture" && camera.dimensions == Dimensions(width: 320, height: 180))
      #expect(microphone.name == "sound")
      let screen = await #expect(throws: LiveKitError.self) { try await alice.setScreenShare(enabled: true) }
      #expect(screen?.message.contains("no-such") == true)
      try await eventually("the tracks") { bob.remoteParticipants["alice"]?.trackPublications.count == 2 }
      #expect(bob.remoteParticipants["alice"]?.videoTracks.map(\.mimeType) == ["video/VP9"])
      try await alice.publish(data: .init("tea".utf8))
      try await eventually("the message") { topics.values == ["news"] }

      // Options of a call go before them.
      try await alice.unpublish(publication: camera)
      let own = VideoPublishOptions(name: "own", preferredCodec: .vp8)
      #expect(try await alice.setCamera(enabled: true, publishOptions: own)?.name == "own")
    }
  }

  /// Servers judge by what packets say of how loud they are.
  @Test func whoIsHeardSpeaks() async throws {
    let options = RoomOptions(defaultAudioCaptureOptions: AudioCaptureOptions(template: "tone"))
    try await run(options) { alice, bob in
      let microphone = try #require(try await alice.setMicrophone(enabled: true))
      try await eventually("who speaks") { bob.activeSpeakers.map(\.identity) == ["alice"] }
      let level = try #require(bob.activeSpeakers.first?.audioLevel)
      #expect(level > 0.05 && level < 1)
      try await microphone.mute()
      try await eventually("that nobody does") { bob.activeSpeakers.isEmpty }
    }
  }

  /// What goes as it is has no level of its own: it is decoded for that alone.
  @Test func whoseOpusGoesAsItIsSpeaks() async throws {
    let text = """
      # A tone as Opus.
      audiotestsrc is-live=true volume=0.3 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=2 ! opusenc
      ! appsink name=encoded-audio sync=false async=false
      """
    let folder = try TemporaryFolder(template: "capture/talk", text)
    let source = MediaSource(template: "talk", passthrough: .possible, pipelineFolder: folder.path)
    try await run(RoomOptions()) { alice, bob in
      let publication = try await alice.publish(audioTrack: source.makeAudioTrack())
      try await eventually("who speaks") { bob.activeSpeakers.map(\.identity) == ["alice"] }
      let level = try #require(bob.activeSpeakers.first?.audioLevel)
      #expect(level > 0.05 && level < 1 && publication.way == .asItIs)
      try await publication.mute()
      try await eventually("that nobody does") { bob.activeSpeakers.isEmpty }
      try await publication.unmute()
      try await eventually("who speaks again") { bob.activeSpeakers.map(\.identity) == ["alice"] }
    }
  }

  @Test(arguments: [
    (1.0, 0, true), (0.708, 3, true), (0.001, 60, false), (0, 127, false), (1e-9, 127, false), (3, 0, true),
  ])
  func audioLevels(level: Double, attenuation: UInt8, isVoice: Bool) {
    #expect(AudioLevel(level).attenuation == attenuation)
    #expect(AudioLevel(level).element == attenuation | (isVoice ? 0x80 : 0))
  }

  @Test func aScreenComesAndGoesWithItsSound() async throws {
    try await run(RoomOptions()) { alice, bob in
      func options(_ sound: String) -> ScreenShareCaptureOptions {
        ScreenShareCaptureOptions(
          appAudio: true, template: "pattern", values: Self.size, audioTemplate: sound)
      }
      @Sendable func sources() -> [Track.Source] {
        bob.remoteParticipants["alice"]?.trackPublications.values.map(\.source).sorted { "\($0)" < "\($1)" } ?? []
      }
      let failure = await #expect(throws: LiveKitError.self) {
        try await alice.setScreenShare(enabled: true, captureOptions: options("no-such"))
      }
      #expect(failure?.message.contains("no-such") == true && alice.trackPublications.isEmpty)
      let screen = try #require(try await alice.setScreenShare(enabled: true, captureOptions: options("tone")))
      #expect(screen.source == .screenShareVideo)
      try await eventually("both") { sources() == [.screenShareVideo, .screenShareAudio] }
      #expect(try await alice.setScreenShare(enabled: false) == nil && alice.trackPublications.isEmpty)
      try await eventually("neither") { sources().isEmpty }
    }
  }

  @Test func oneTrackIsPublishedOnceByTwoCallsAtOnce() async throws {
    try await run(RoomOptions()) { alice, bob in
      let track = LocalVideoTrack.createCameraTrack(
        options: CameraCaptureOptions(template: "pattern", values: Self.size))
      @Sendable func publish() async -> Result<LocalTrackPublication, any Error> {
        do { return .success(try await alice.publish(videoTrack: track)) } catch { return .failure(error) }
      }
      async let first = publish()
      async let second = publish()
      let results = await [first, second]
      let failures = results.compactMap { result -> LiveKitError? in
        if case .failure(let error) = result { error as? LiveKitError } else { nil }
      }
      #expect(failures.map(\.code) == [.invalidState] && alice.localVideoTracks.count == 1)
      #expect(track.trackState == .started, "the call that failed has not stopped it")
      try await eventually("the camera") { bob.remoteParticipants["alice"]?.videoTracks.count == 1 }
      let publication = try #require(alice.localVideoTracks.first)
      try await alice.unpublish(publication: publication)
      #expect(try await alice.publish(videoTrack: track).sid != publication.sid)
    }
  }

  @Test func oneCameraIsMadeByTwoCallsAtOnce() async throws {
    let camera = CameraCaptureOptions(template: "pattern", values: Self.size)
    try await run(RoomOptions(defaultCameraCaptureOptions: camera)) { alice, _ in
      async let first = alice.setCamera(enabled: true)
      async let second = alice.setCamera(enabled: true)
      let publications = try await [first, second]
      #expect(publications[0] != nil && publications[0] === publications[1] && alice.localVideoTracks.count == 1)
    }
  }

  @Test func onlyRelaysWithoutOneIsAnErrorAtOnce() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let (room, clock) = (Room(), ContinuousClock())
    let begun = clock.now
    let error = await #expect(throws: LiveKitError.self) {
      try await room.connect(
        url: synthetic.url, token: try SyntheticRoom.token("alice"),
        connectOptions: ConnectOptions(iceTransportPolicy: .relay))
    }
    #expect(error?.code == .iceFailed && error?.message.contains("TURN") == true && clock.now - begun < .seconds(8))
    await synthetic.stop()
  }

  private static let devices = RoomOptions(
    defaultCameraCaptureOptions: CameraCaptureOptions(template: "pattern", values: size),
    defaultAudioCaptureOptions: AudioCaptureOptions(template: "tone"))

  @Test func sourcesThatTheTokenLeavesOutAreRefused() async throws {
    try await run(Self.devices, sources: ["microphone"]) { _, alice, bob in
      #expect(alice.permissions.canPublishSources == [.microphone])
      let refused = await #expect(throws: LiveKitError.self) { try await alice.setCamera(enabled: true) }
      #expect(refused?.code == .permissionDenied && refused?.message.contains("a camera") == true)
      _ = try await alice.setMicrophone(enabled: true)
      try await eventually("the other one") { bob.remoteParticipants["alice"]?.audioTracks.count == 1 }
    }
  }

  /// Where it has not told that it allows less.
  @Test func whatTheServerRefusesFails() async throws {
    try await run(Self.devices, sources: ["microphone"]) { synthetic, alice, _ in
      var info = Livekit_ParticipantInfo()
      (info.sid, info.identity, info.state) = (alice.sid, "alice", .active)
      (info.permission.canPublish, info.version) = (true, .max)
      var response = Livekit_SignalResponse()
      response.update.participants = [info]
      synthetic.server.tell(response, to: "alice")
      try await eventually("the permission") { alice.permissions.canPublishSources.isEmpty }
      let refused = await #expect(throws: LiveKitError.self) { try await alice.setCamera(enabled: true) }
      #expect(refused?.code == .permissionDenied, "\(refused.debugDescription)")
    }
  }

  private func joinAnew(_ synthetic: SyntheticRoom) {
    var response = Livekit_SignalResponse()
    response.leave.action = .reconnect
    synthetic.server.tell(response, to: "alice")
  }

  @Test func whatTheServerTakesAwaySaysSo() async throws {
    try await run(Self.devices, sources: nil) { synthetic, alice, _ in
      let microphone = try #require(try await alice.setMicrophone(enabled: true))
      #expect(microphone.sendFailure == nil)
      var response = Livekit_SignalResponse()
      response.trackUnpublished.trackSid = microphone.sid
      synthetic.server.tell(response, to: "alice")
      try await eventually("that it is gone") { alice.trackPublications.isEmpty }
      #expect(microphone.sendFailure?.code == .permissionDenied)
      let again = try #require(try await alice.setMicrophone(enabled: true))
      try await alice.unpublish(publication: again)
      #expect(again.sendFailure == nil)
    }
  }

  /// Whoever gives up has no track in the room, and may publish the same one later.
  @Test func whatIsGivenUpIsNotPublished() async throws {
    try await run(Self.devices, sources: nil) { _, alice, bob in
      let track = LocalVideoTrack.createCameraTrack(
        options: CameraCaptureOptions(template: "pattern", values: Self.size))
      let publishing = Task { try await alice.publish(videoTrack: track) }
      publishing.cancel()
      let givenUp = await #expect(throws: LiveKitError.self) { try await publishing.value }
      #expect(givenUp?.code == .cancelled && alice.trackPublications.isEmpty && track.trackState == .stopped)
      let publication = try await alice.publish(videoTrack: track)
      try await eventually("the track alone") {
        bob.remoteParticipants["alice"]?.videoTracks.map(\.sid) == [publication.sid]
      }
    }
  }

  @Test func whatSentATrackIsGoneAfterAReturn() async throws {
    try await run(Self.devices, sources: nil) { synthetic, alice, _ in
      let camera = try #require(try await alice.setCamera(enabled: true))
      let sender = Locked(Weak(try #require(camera.senders.first)))
      let sid = camera.sid
      try await eventually("packets") { camera.sent.packets > 20 }
      let before = camera.sent
      joinAnew(synthetic)
      try await eventually("the camera under another SID") { camera.sid != sid }
      try await eventually("the end of what sent it before") { sender.withLock { $0.object == nil } }
      let after = camera.sent
      #expect(after.packets >= before.packets && after.bytes >= before.bytes, "what was sent is counted on")
      try await alice.unpublish(publication: camera)
      let last = camera.sent
      #expect(last.packets >= after.packets && last.bytes >= after.bytes)
    }
  }

  /// Who cannot decode the first codec goes without; all others do not.
  @Test func aBackupCodecThatFailsLeavesTheFirstOne() async throws {
    let text = """
      # VP8 that fails each time.
      appsrc name=frames caps="video/x-raw" ! videoconvert ! video/x-raw,format=I420 ! identity error-after=1
      ! vp8enc deadline=1 cpu-used=8 ! appsink name=encoded sync=false caps="video/x-vp8"
      """
    let folder = try TemporaryFolder(template: "encode/vp8", text)
    try await run(RoomOptions(pipelineFolder: folder.path), sources: nil) { synthetic, alice, _ in
      let camera = try await alice.publish(
        videoTrack: .createCameraTrack(options: CameraCaptureOptions(template: "pattern", values: Self.size)),
        options: VideoPublishOptions(preferredCodec: .vp9, preferredBackupCodec: .vp8))
      synthetic.server.tell(Self.wanted(["vp9", "vp8"], of: camera.sid), to: "alice")
      try await eventually("the other codec") { camera.senders.count == 2 }
      try await eventually("its end", within: .seconds(40)) { camera.senders.count == 1 }
      #expect(camera.sendFailure == nil && camera.codec == "vp9")
      let sent = camera.sent.packets
      try await eventually("packets of the first codec") { camera.sent.packets > sent + 20 }
      // It is not begun again for the next one who needs it.
      synthetic.server.tell(Self.wanted(["vp9", "vp8"], of: camera.sid), to: "alice")
      let more = camera.sent.packets
      try await eventually("more packets") { camera.sent.packets > more + 20 }
      #expect(camera.senders.count == 1)
    }
  }

  /// The server has everybody change over to the backup codec, and the first one is not encoded any more.
  @Test(arguments: BackupCodecPolicy.allCases)
  func theFirstCodecGoesOnBesideTheBackupWhereThePolicySaysSo(policy: BackupCodecPolicy) async throws {
    try await run(Self.devices, sources: nil) { synthetic, alice, bob in
      let camera = try await alice.publish(
        videoTrack: .createCameraTrack(options: CameraCaptureOptions(template: "pattern", values: Self.size)),
        options: VideoPublishOptions(
          preferredCodec: .vp9, preferredBackupCodec: .vp8, backupCodecPolicy: policy))
      let screen = await Screen(320, 180)
      let track = try await eventually("the track") {
        bob.remoteParticipants["alice"]?.videoTracks.first?.track as? RemoteVideoTrack
      }
      track.add(videoRenderer: screen)
      try await eventually("frames of the first codec") { screen.frames.withLock { $0.count } > 5 }
      synthetic.server.tell(Self.wanted(["vp9", "vp8"], of: camera.sid), to: "alice")
      try await eventually("the other codec") { (camera.senders.last?.streams.first?.statistics.packetsSent ?? 0) > 40 }
      try await eventually("what the server has said") { camera.sentLayers.map(\.isWanted) == [policy == .simulcast] }
      if policy != .simulcast {
        try await eventually("the other codec here") { track.incoming?.codec == "vp8" }
        await track.set(reportStatistics: true)
        #expect(track.statistics?.inboundRtp?.first?.mimeType == "video/VP8")
        #expect(bob.remoteParticipants["alice"]?.videoTracks.first?.track === track)
      }
      let before = screen.frames.withLock { $0.count }
      try await eventually("frames in whichever codec") { screen.frames.withLock { $0.count } > before + 20 }
    }
  }

  private static func wanted(_ codecs: [String], of sid: String) -> Livekit_SignalResponse {
    var high = Livekit_SubscribedQuality()
    (high.quality, high.enabled) = (.high, true)
    var response = Livekit_SignalResponse()
    response.subscribedQualityUpdate.trackSid = sid
    response.subscribedQualityUpdate.subscribedCodecs = codecs.map { name in
      var codec = Livekit_SubscribedCodec()
      (codec.codec, codec.qualities) = (name, [high])
      return codec
    }
    return response
  }

  @Test(arguments: [Int.min, -1, .max]) func aSenselessBitrateOfAudioIsNoTrap(_ bitrate: Int) async throws {
    try await run(Self.devices, sources: nil) { _, alice, bob in
      let options = AudioPublishOptions(encoding: AudioEncoding(maxBitrate: bitrate))
      // An encoder may refuse it.
      _ = try? await alice.publish(
        audioTrack: .createTrack(options: AudioCaptureOptions(template: "tone")), options: options)
      #expect(bob.connectionState == .connected)
    }
  }

  @Test func whatIsMutedNeedsNoRoom() async throws {
    try await run(Self.devices, sources: nil) { synthetic, alice, _ in
      let microphone = try #require(try await alice.setMicrophone(enabled: true))
      #expect(microphone.sentLayers.map(\.isWanted) == [true])
      try await microphone.mute()
      #expect(microphone.sentLayers.map(\.isWanted) == [false])
      let sid = microphone.sid
      joinAnew(synthetic)
      try await eventually("the microphone under another SID") { microphone.sid != sid }
      #expect(microphone.sentLayers.map(\.isWanted) == [false])
      try await microphone.unmute()
      #expect(microphone.sentLayers.map(\.isWanted) == [true])
    }
  }
}
