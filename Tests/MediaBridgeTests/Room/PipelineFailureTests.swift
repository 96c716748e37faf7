import BridgeTesting
import Egress
import Foundation
import MediaBridgeDesktop
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// A pipeline that cannot be made reaches the program, whatever it was for: as an event and as a delegate call.
@Suite struct PipelineFailureTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let events: Collector<RoomEvent>
    let delegate: DelegateRecorder

    /// Why a track cannot be had, decoded, played or shown.
    func failure(of publication: RemoteTrackPublication) async throws -> LiveKitError {
      try await eventually("the failure of \(publication.source)") {
        events.values.lazy.compactMap { event in
          if case .subscriptionFailed(_, publication.sid, let error) = event { error } else { nil }
        }.first
      }
    }
    var playbackFailures: [LiveKitError] {
      events.values.compactMap { if case .audioPlaybackFailed(let error) = $0 { error } else { nil } }
    }
    func isTold(_ method: String, _ code: LiveKitError.Code) async throws {
      try await eventually("the delegate call \(method)") {
        delegate.lines.contains { $0.hasPrefix("room \(method)") && $0.hasSuffix(code.rawValue) }
      }
    }
  }

  private static func folder(_ texts: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, text) in texts {
      let file = URL(fileURLWithPath: "\(folder.path)/\(name).pipeline")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    return folder
  }

  private func run(
    _ texts: [String: String], playback: AudioPlayback = .off, _ body: (Scene) async throws -> Void
  ) async throws {
    let folder = try Self.folder(texts)
    let (events, delegate) = (Collector<RoomEvent>(), DelegateRecorder())
    let options = RoomOptions(adaptiveStream: false, audioPlayback: playback, pipelineFolder: folder.path)
    try await Watcher.run(options, delegate: delegate, events: events) { watcher in
      try await body(Scene(watcher: watcher, events: events, delegate: delegate))
    }
  }

  @Test func ofATrackThatIsPlayed() async throws {
    let texts = [
      "receive/opus": "appsrc name=rtp ! nosuchdecoder ! appsink name=pcm",
      "output/playback": "audiomixer name=audiomix force-live=true ! fakesink sync=true",
    ]
    try await run(texts, playback: .automatic) { scene in
      let error = try await scene.failure(of: try await scene.watcher.microphone())
      #expect(error.code == .missingElement && error.message.contains("receive/opus.pipeline:1"))
      try await scene.isTold("didFailToSubscribeTrackWithSid alice", .missingElement)
    }
  }

  @Test(arguments: [
    ("nosuchmixer name=audiomix ! fakesink", LiveKitError.Code.missingElement), ("audiomixer name=other", .template),
    ("audiomixer name=audiomix ! filesink location=/no/such/folder/x", .output),
  ])
  func ofAllPlayback(text: String, code: LiveKitError.Code) async throws {
    try await run(["output/playback": text], playback: .automatic) { scene in
      let error = try await eventually("the failure") { scene.playbackFailures.first }
      #expect(error.code == code)
      try await scene.isTold("didFailToPlayAudioWithError", code)
      // Renderers hear all the same.
      let buffers = Collector<Int>()
      let track = try #require(try await scene.watcher.microphone().track as? RemoteAudioTrack)
      track.add(audioRenderer: AudioBufferHandler { _ in buffers.add(1) })
      try await eventually("audio for renderers") { buffers.count > 5 }
      #expect(scene.playbackFailures.count == 1)
    }
  }

  /// A device that is there and cannot be used is no machine without one.
  @Test func ofADeviceThatIsThere() async throws {
    try await run([:]) { scene in
      let (_, track) = try await scene.watcher.tracks()
      let text = "audiomixer name=audiomix force-live=true ! ${sink:-pulsesink} no-such-property=1"
      let folder = try Self.folder(["output/playback": text])
      let told = Collector<(LiveKitError, RemoteAudioTrack?)>()
      let player = Player(
        factory: PipelineFactory(folder: folder.path),
        device: AudioDevice(environment: ["PULSE_SERVER": "none"], root: folder.path),
        onFailure: { _ in }, tell: { told.add(($0, $1)) })
      await player.play([track], [])
      await player.play([track], [])
      let (error, failed) = try #require(told.values.first)
      #expect(told.count == 1 && failed == nil)
      // Where the sink is not installed either, that is what is said.
      #expect([.template, .missingElement].contains(error.code))
      await player.stop()
    }
  }

  /// One track that cannot be played any more is told as that track's.
  @Test func ofOneInputOfPlayback() async throws {
    try await run([:]) { scene in
      let (_, track) = try await scene.watcher.tracks()
      let played = try PlayedAudio()
      let told = Collector<(LiveKitError, RemoteAudioTrack?)>()
      let player = Player(
        factory: played.factory, device: AudioDevice(environment: [:], root: played.folder.path),
        onFailure: { _ in }, tell: { told.add(($0, $1)) })
      #expect(await player.play([track], []) == nil)
      #expect(track.isPlayed)
      let now = MediaTime.now
      let broken = LiveKitError(.pipeline, "broken")
      let pause = try #require(await player.play([track], [.input("played-1", broken)], at: now))
      #expect(!track.isPlayed && told.count == 1)
      #expect(told.values.first?.0.message == "broken" && told.values.first?.1 === track)
      // It is played again after a while, and told once.
      #expect(await player.play([track], [], at: now + pause / 2) == pause / 2)
      #expect(!track.isPlayed)
      #expect(await player.play([track], [], at: now + pause) == nil)
      #expect(track.isPlayed)
      await player.play([track], [.input("played-2", broken)], at: now + pause)
      #expect(!track.isPlayed && told.count == 1)
      await player.stop()
    }
  }

  @Test func ofAWindow() async throws {
    let folder = try Self.folder(["output/window": "appsrc name=video ! nosuchsink name=window"])
    try await run([:]) { scene in
      let camera = try await scene.watcher.camera()
      let track = try #require(camera.track as? RemoteVideoTrack)
      let view = VideoView(frame: .zero, pipelineFolder: folder.path)
      track.add(videoRenderer: view)
      let error = try await scene.failure(of: camera)
      #expect(error.code == .missingElement && error == view.failure)
      try await scene.isTold("didFailToSubscribeTrackWithSid alice", .missingElement)
      track.remove(videoRenderer: view)
    }
  }

  /// A text that was made, and whose result nobody can show.
  @Test func ofATextThatDoesNotDecode() async throws {
    let texts = [
      "receive/vp8": "appsrc name=rtp caps=\"application/x-rtp,media=video,clock-rate=90000,"
        + "encoding-name=VP8\" ! rtpvp8depay ! appsink name=frames sync=false"
    ]
    try await run(texts) { scene in
      let camera = try await scene.watcher.camera()
      (camera.track as? RemoteVideoTrack)?.add(videoRenderer: VideoFrameHandler { _ in })
      let error = try await scene.failure(of: camera)
      #expect(error.code == .template && error.message.contains("vp8 hands out video/x-vp8"))
    }
  }

  @Test func ofAFolderThatOthersCanWrite() async throws {
    let folder = try Self.folder(["output/x": "appsrc name=video ! fakesink"])
    try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: folder.path)
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off, pipelineFolder: folder.path))
    let error = await #expect(throws: LiveKitError.self) {
      try await room.connect(url: "ws://127.0.0.1:9", token: "none")
    }
    #expect(error?.code == .template)
    #expect(error?.message.contains("chmod go-w \(folder.path)") == true)
  }
}
