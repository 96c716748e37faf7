import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
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

  /// Runs with a participant whose camera is that capture text, and one of ours who has not asked for it yet.
  private func run(
    _ codec: String, camera text: String, _ body: (Scene) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/capture", withIntermediateDirectories: true)
    try text.write(toFile: folder.path + "/capture/odd.pipeline", atomically: true, encoding: .utf8)
    let publisher = CapturePublisher(
      captures: [
        CaptureOptions(
          template: "odd", kind: .video, source: .camera, codec: codec, dimensions: Dimensions(width: 64, height: 64))
      ], pipelineFolder: folder.path)
    let events = Collector<RoomEvent>()
    let options = RoomOptions(autoSubscribe: false, adaptiveStream: false)
    try await Watcher.run(options, codecs: [:], events: events) { watcher in
      var grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      grant.canPublish = true
      try await publisher.connect(url: watcher.synthetic.url, token: try await SyntheticRoom.token("alice", grant))
      let camera = try await eventually("the camera") { watcher.room.remoteParticipants["alice"]?.videoTracks.first }
      do { try await body(Scene(watcher: watcher, camera: camera, events: events)) } catch {
        await publisher.disconnect()
        throw error
      }
      await publisher.disconnect()
    }
  }

  /// A camera that stopped after its first picture, as one that was pulled out: its publisher stays, and says nothing.
  @Test func whatIsNotSentAnyMoreIsMissedAfterAWhile() async throws {
    let text = """
      # One picture.
      videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=64 ! vp8enc deadline=1 ! rtpvp8pay
      ! appsink name=video sync=false
      """
    try await run("vp8", camera: text) { scene in
      try await scene.camera.set(subscribed: true)
      try await eventually("the subscription") { scene.camera.isSubscribed }
      try await eventually("the failure", within: .seconds(30)) { !scene.failures.isEmpty }
      #expect(scene.failures.map(\.code) == [.noMedia])
      #expect(scene.failures[0].message.contains("camera of alice (\(scene.camera.sid)) has come in 10 s"))
      // It is asked for and allowed: it may still come.
      #expect(scene.camera.subscriptionState == .subscribed && scene.reasons.isEmpty)
    }
  }

  @Test func aCodecThatIsNotTakenIsRefused() async throws {
    let text = """
      # H.265, for which there is no decoder here.
      videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=64,framerate=10/1
      ! x265enc speed-preset=ultrafast tune=zerolatency ! rtph265pay ! appsink name=video sync=false
      """
    try await run("h265", camera: text) { scene in
      #expect(scene.camera.mimeType == "video/H265")
      try await scene.camera.set(subscribed: true)
      try await eventually("the failure") { !scene.failures.isEmpty }
      #expect(scene.failures.map(\.code) == [.unsupportedCodec])
      let message = scene.failures[0].message
      #expect(message.contains("camera of alice (\(scene.camera.sid)) here: it is published in video/H265"))
      #expect(message.hasSuffix("let its publisher use one of VP8, VP9, H264"))
      try await eventually("why there are no pictures") { scene.reasons == ["-codecNotSupported"] }
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
