import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import SyntheticParticipants
import Testing

/// Tracks that are there and cannot be had, each for its own reason.
@Suite struct FailingSubscriptionTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let camera: RemoteTrackPublication
    let events: Collector<RoomEvent>

    var failures: [LiveKitError] {
      events.values.compactMap { event in
        if case .subscriptionFailed(_, _, let error) = event { error } else { nil }
      }
    }
    var reasons: [String] { events.values.compactMap(\.videoChange) }
    var wasEverSubscribed: Bool {
      events.values.contains { if case .trackSubscribed = $0 { true } else { false } }
    }
  }

  /// Runs with a participant with an odd camera, and one of ours who has not asked for it yet.
  /// - Parameter join: lets it in, with address and token, and gives what lets it out.
  private func run(
    _ join: (String, String) async throws -> @Sendable () async -> Void, _ body: (Scene) async throws -> Void
  ) async throws {
    let events = Collector<RoomEvent>()
    let options = RoomOptions(autoSubscribe: false, adaptiveStream: false)
    try await Watcher.run(options, codecs: [:], events: events) { watcher in
      let grant = VideoGrant.publisher(room: SyntheticRoom.name)
      let leave = try await join(watcher.synthetic.url, try SyntheticRoom.token("alice", grant))
      let camera = try await eventually("the camera") { watcher.room.remoteParticipants["alice"]?.videoTracks.first }
      do { try await body(Scene(watcher: watcher, camera: camera, events: events)) } catch {
        await leave()
        throw error
      }
      await leave()
    }
  }

  /// A camera that stopped, as one that was pulled out: its publisher stays, and says nothing.
  @Test func whatIsNotSentAnyMoreIsMissedAfterAWhile() async throws {
    let track = LocalVideoTrack.createBufferTrack(source: .camera)
    let gray = [UInt8](repeating: 128, count: 64 * 64 * 3 / 2)
    let frames = Task {
      while !Task.isCancelled {
        if let frame = VideoFrame(i420: gray, width: 64, height: 64) { track.capturer?.capture(frame) }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    let join: (String, String) async throws -> @Sendable () async -> Void = { url, token in
      let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
      try await room.connect(url: url, token: token)
      try await room.localParticipant.publish(videoTrack: track)
      return { await room.disconnect() }
    }
    defer { frames.cancel() }
    try await run(join) { scene in
      frames.cancel()
      await frames.value
      try await scene.camera.set(subscribed: true)
      try await eventually("the subscription") { scene.camera.isSubscribed }
      try await eventually("the failure", within: .seconds(30)) { !scene.failures.isEmpty }
      #expect(scene.failures.map(\.code) == [.noMedia])
      #expect(scene.failures[0].message.contains("camera of alice (\(scene.camera.sid)) has come in 10 s"))
      // It is asked for and allowed: it may still come.
      #expect(scene.camera.subscriptionState == .subscribed && scene.reasons.isEmpty)
    }
  }

  /// What a server says of alice's camera.
  private func say(_ fill: (inout Livekit_TrackInfo) -> Void, of camera: RemoteTrackPublication, in watcher: Watcher) {
    watcher.tell { response in
      var track = Livekit_TrackInfo()
      (track.sid, track.type, track.source, track.mimeType) = (camera.sid, .video, .camera, "video/VP8")
      fill(&track)
      var info = Livekit_ParticipantInfo()
      (info.sid, info.identity, info.state, info.tracks) = (camera.participant?.sid ?? "", "alice", .active, [track])
      info.version = .max
      response.update.participants = [info]
    }
  }

  private func failures(_ events: Collector<RoomEvent>) -> [LiveKitError] {
    events.values.compactMap { if case .subscriptionFailed(_, _, let error) = $0 { error } else { nil } }
  }

  /// There is no key for it here: no decoder gets it, and nobody waits for it.
  @Test func whatIsEncryptedIsNotReceived() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(events: events) { watcher in
      let camera = try await watcher.camera()
      #expect(camera.encryptionType == .none)
      say({ $0.encryption = .gcm }, of: camera, in: watcher)
      try await eventually("the failure") { !failures(events).isEmpty }
      #expect(camera.encryptionType == .gcm)
      #expect(failures(events).map(\.code) == [.encrypted])
      #expect(
        failures(events)[0].message.hasPrefix(
          "the camera of alice is encrypted end to end, which is not supported yet"))
      try await eventually("the end of the track") { camera.track == nil && !camera.isSubscribed }
      try await eventually("word to the server that it need not be sent") {
        watcher.asked.values.contains { $0.subscription.trackSids == [camera.sid] && !$0.subscription.subscribe }
      }
      // Once is enough, unless somebody asks for it again.
      say({ $0.encryption = .custom }, of: camera, in: watcher)
      try await eventually("the news") { camera.encryptionType == .custom }
      #expect(failures(events).count == 1)
      try await camera.set(subscribed: false)
      try await camera.set(subscribed: true)
      try await eventually("the second failure") { failures(events).count == 2 }
      #expect(!watcher.asked.values.contains { $0.subscription.subscribe })
      #expect(camera.track == nil)
    }
  }

  /// A codec that a publisher has beside its first one may be what the server sends.
  @Test func oneOfTwoCodecsIsEnough() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(autoSubscribe: false), events: events) { watcher in
      let camera = try await eventually("the camera") { watcher.room.remoteParticipants["alice"]?.videoTracks.first }
      say(
        { track in
          track.mimeType = "video/H265"
          track.codecs = ["video/H265", "video/vp8"].map { type in
            var codec = Livekit_SimulcastCodecInfo()
            codec.mimeType = type
            return codec
          }
        }, of: camera, in: watcher)
      try await eventually("the codecs") { camera.mimeType == "video/H265" }
      try await camera.set(subscribed: true)
      try await eventually("the subscription") { camera.isSubscribed }
      #expect(failures(events).isEmpty)
    }
  }

  /// A server may tell of the codec that a publisher has fallen back to after it has begun to send it.
  @Test func aCodecThatIsToldOfLateIsTakenThen() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(autoSubscribe: false, adaptiveStream: false), events: events) { watcher in
      let camera = try await eventually("the camera") { watcher.room.remoteParticipants["alice"]?.videoTracks.first }
      func say(_ mimeType: String) { self.say({ $0.mimeType = mimeType }, of: camera, in: watcher) }
      say("video/H265")
      try await eventually("the wrong codec") { camera.mimeType == "video/H265" }
      try await camera.set(subscribed: true)
      // Told before a server has tried it.
      try await eventually("the failure") { self.failures(events).map(\.code) == [.unsupportedCodec] }
      try await eventually("our answer to the offer") {
        watcher.asked.values.contains { $0.answer.sdp.contains("m=video") && $0.answer.sdp.contains("recvonly") }
      }
      #expect(!camera.isSubscribed)
      say("video/VP8")
      try await eventually("the subscription") { camera.isSubscribed }
      let track = try #require(camera.track as? RemoteVideoTrack)
      let screen = await Screen()
      track.add(videoRenderer: screen)
      try await eventually("frames") { screen.frames.withLock { $0.count } > 5 }
      // What comes goes on, whatever is said of it.
      say("video/H265")
      try await eventually("the wrong codec") { camera.mimeType == "video/H265" }
      let shown = screen.frames.withLock { $0.count }
      try await eventually("more frames") { screen.frames.withLock { $0.count } > shown + 10 }
      #expect(camera.track === track)
    }
  }

  @Test func aCodecThatIsNotTakenIsRefused() async throws {
    let text = """
      # H.265, for which there is no decoder here.
      videotestsrc ! video/x-raw,format=I420,width=64,height=64,framerate=10/1
      ! x265enc speed-preset=ultrafast tune=zerolatency ! rtph265pay ! appsink name=video sync=false
      """
    let folder = try TemporaryFolder(template: "capture/odd", text)
    let layer = CaptureClip.Layer(dimensions: Dimensions(width: 64, height: 64), bitrate: 100_000)
    let clip = try await CaptureClip.record(
      template: "odd", layers: [layer], rate: 10, seconds: 1, values: [:], pipelineFolder: folder.path)
    let join: (String, String) async throws -> @Sendable () async -> Void = { url, token in
      let publisher = ClipPublisher(clip, codec: "h265")
      try await publisher.connect(url: url, token: token)
      return { await publisher.disconnect() }
    }
    try await run(join) { scene in
      #expect(scene.camera.mimeType == "video/H265")
      try await scene.camera.set(subscribed: true)
      try await eventually("the failure") { !scene.failures.isEmpty }
      #expect(scene.failures.map(\.code) == [.unsupportedCodec])
      let message = scene.failures[0].message
      #expect(message.contains("camera of alice (\(scene.camera.sid)) here: it is published in video/H265"))
      #expect(message.hasSuffix("let its publisher use one of VP8, VP9, H264, AV1"))
      try await eventually("why there are no frames") { scene.reasons == ["-codecNotSupported"] }
      #expect(!scene.camera.isSubscribed && !scene.wasEverSubscribed)
      // Its publisher comes back with another codec.
      let synthetic = scene.watcher.synthetic
      await synthetic.server.stop()
      let second = try await SyntheticRoom.start(port: synthetic.port)
      try await eventually("the camera", within: .seconds(30)) { scene.camera.isSubscribed }
      try await eventually("word of it") { scene.reasons == ["-codecNotSupported", "+codecNotSupported"] }
      #expect(scene.camera.mimeType == "video/VP8" && scene.failures.count == 1)
      await scene.watcher.room.disconnect()
      await second.stop()
    }
  }
}
