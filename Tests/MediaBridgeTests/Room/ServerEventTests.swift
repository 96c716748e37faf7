import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// What becomes of what a server tells of its own accord, and of frames that stop.
@Suite struct ServerEventTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let camera: RemoteTrackPublication
    let events: Collector<RoomEvent>

    func next<Value: Sendable>(_ what: String, _ find: @escaping @Sendable (RoomEvent) -> Value?) async throws -> Value
    {
      try await eventually(what) { events.values.lazy.compactMap(find).last }
    }

    /// Why frames stopped (-) and went on (+), so far.
    var reasons: [String] { events.values.compactMap(\.videoChange) }
  }

  private func run(_ pipelineFolder: String? = nil, _ body: (Scene) async throws -> Void) async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(adaptiveStream: false, pipelineFolder: pipelineFolder), events: events) {
      watcher in
      try await body(Scene(watcher: watcher, camera: try await watcher.camera(), events: events))
    }
  }

  @Test func qualityMetadataAndRecordingAreTold() async throws {
    try await run { scene in
      let alice = try #require(scene.watcher.room.remoteParticipants["alice"])
      scene.watcher.tell { response in
        var info = Livekit_ConnectionQualityInfo()
        (info.participantSid, info.quality) = (alice.sid, .poor)
        response.connectionQuality.updates = [info]
      }
      let quality = try await scene.next("the quality") {
        if case .connectionQualityChanged(_, let quality) = $0 { quality } else { nil }
      }
      #expect(quality == .poor && alice.connectionQuality == .poor)
      scene.watcher.tell { response in
        (response.roomUpdate.room.metadata, response.roomUpdate.room.activeRecording) = ("a tea party", true)
      }
      let isRecording = try await scene.next("the recording") {
        if case .recordingChanged(let isRecording) = $0 { isRecording } else { nil }
      }
      #expect(isRecording && scene.watcher.room.isRecording && scene.watcher.room.metadata == "a tea party")
    }
  }

  @Test func aSubscriptionThatFailsSaysWhy() async throws {
    try await run { scene in
      for error in [Livekit_SubscriptionError.seTrackNotfound, .seUnknown, .seCodecUnsupported] {
        scene.watcher.tell { response in
          (response.subscriptionResponse.trackSid, response.subscriptionResponse.err) = (scene.camera.sid, error)
        }
      }
      @Sendable func errors() -> [LiveKitError] {
        scene.events.values.compactMap { if case .subscriptionFailed(_, _, let error) = $0 { error } else { nil } }
      }
      try await eventually("all reasons") { errors().count == 3 }
      #expect(errors().map(\.code) == [.trackNotFound, .subscriptionFailed, .unsupportedCodec])
      #expect(errors().allSatisfy { $0.message.contains("camera of alice (\(scene.camera.sid))") })
      try await eventually("why there are no frames") { scene.reasons == ["-codecNotSupported"] }
    }
  }

  @Test func whyFramesStopAndGoOnIsTold() async throws {
    try await run { scene in
      let sid = scene.camera.sid
      func pause(_ state: Livekit_StreamState) {
        scene.watcher.tell { response in
          var info = Livekit_StreamStateInfo()
          (info.trackSid, info.state) = (sid, state)
          response.streamStateUpdate.streamStates = [info]
        }
      }
      func mute(_ isMuted: Bool) {
        scene.watcher.tell { ($0.mute.sid, $0.mute.muted) = (sid, isMuted) }
      }
      var expected: [String] = []
      func check(_ told: String) async throws {
        expected.append(told)
        let expected = expected
        try await eventually("\(expected)") { scene.reasons == expected }
      }
      pause(.paused)
      try await check("-qualityChanged")
      #expect(scene.camera.streamState == .paused)
      pause(.active)
      try await check("+qualityChanged")
      try await scene.camera.set(enabled: false)
      try await check("-subscriberPropertyChanged")
      // They stay away: another reason makes no difference.
      mute(true)
      try await eventually("the mute") { scene.camera.isMuted }
      try await scene.camera.set(enabled: true)
      #expect(scene.reasons == expected)
      mute(false)
      try await check("+publisherPropertyChanged")
    }
  }

  @Test func framesThatCannotBeDecodedAreTold() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/receive", withIntermediateDirectories: true)
    try "# Broken.\nappsrc name=rtp ! nosuchdecoder ! appsink name=frames\n"
      .write(toFile: folder.path + "/receive/vp8.pipeline", atomically: true, encoding: .utf8)
    try await run(folder.path) { scene in
      let track = try #require(scene.camera.track as? RemoteVideoTrack)
      track.add(videoRenderer: VideoFrameHandler { _ in })
      let error = try await scene.next("the failure") { event in
        if case .subscriptionFailed(_, let sid, let error) = event, sid == scene.camera.sid { error } else { nil }
      }
      #expect(error.code == .missingElement && error.message.contains("nosuchdecoder"))
      try await eventually("why there are no frames") { scene.reasons == ["-codecNotSupported"] }
      // Once the text is mended the next renderer gets its frames.
      try FileManager.default.removeItem(atPath: folder.path + "/receive/vp8.pipeline")
      let frames = Collector<Dimensions>()
      track.add(videoRenderer: VideoFrameHandler { frames.add($0.dimensions) })
      try await eventually("frames") { frames.count > 3 }
      try await eventually("word of it") { scene.reasons == ["-codecNotSupported", "+codecNotSupported"] }
    }
  }
}
