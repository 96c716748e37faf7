import BridgeTesting
import Egress
import LiveKitProtocol
import MediaBridge
import Testing

/// A track that goes on in another codec, as where LiveKit's server has everybody receive the backup codec.
@Suite struct OtherCodecTests {
  private static let size = ["width": "320", "height": "180", "framerate": "20/1"]

  /// - Parameter body: is given the id of a camera in VP9, whose backup codec is VP8.
  private func run(_ body: (Watcher, _ sid: String) async throws -> Void) async throws {
    try await Watcher.run(RoomOptions(adaptiveStream: false, audioPlayback: .off), codecs: [:]) { watcher in
      let alice = Room()
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await alice.connect(url: watcher.synthetic.url, token: try SyntheticRoom.token("alice", grant))
      let outcome: Result<Void, any Error>
      do {
        let camera = try await alice.localParticipant.publish(
          videoTrack: .createCameraTrack(options: CameraCaptureOptions(template: "pattern", values: Self.size)),
          options: VideoPublishOptions(
            preferredCodec: .vp9, preferredBackupCodec: .vp8, backupCodecPolicy: .regression))
        outcome = .success(try await body(watcher, camera.sid))
      } catch { outcome = .failure(error) }
      await alice.disconnect()
      try outcome.get()
    }
  }

  /// What a server tells who publishes once somebody needs the backup codec.
  private static func bothCodecs(of sid: String) -> Livekit_SignalResponse {
    var high = Livekit_SubscribedQuality()
    (high.quality, high.enabled) = (.high, true)
    var response = Livekit_SignalResponse()
    response.subscribedQualityUpdate.trackSid = sid
    response.subscribedQualityUpdate.subscribedCodecs = ["vp9", "vp8"].map { name in
      var codec = Livekit_SubscribedCodec()
      (codec.codec, codec.qualities) = (name, [high])
      return codec
    }
    return response
  }

  /// Nobody subscribes anew: the recorder hears of the change alone.
  @Test func aFileGoesOnWithIt() async throws {
    try await run { watcher, sid in
      let folder = try TemporaryFolder()
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(
          file: folder.path + "/a.mkv", participant: "alice", kinds: [.video], wait: .seconds(20)))
      try await recorder.start()
      let camera = try await watcher.camera()
      let track = try #require(camera.track)
      watcher.synthetic.server.tell(Self.bothCodecs(of: sid), to: "alice")
      let change = try await eventually("the other codec") { await recorder.progress().codecChanges.first }
      #expect(change.held == "vp9" && change.sent == "vp8" && change.part == nil)
      let length = await recorder.progress().duration
      try await eventually("a second of it") { await recorder.progress().duration > length + .seconds(1) }
      let done = try await recorder.finish()
      #expect(done.codecChanges == [change] && done.omissions.isEmpty && done.video?.codec == "vp8")
      #expect(camera.track === track)
    }
  }
}
