import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// What fails in a receive pipeline, who is told of it, and how it goes on.
@Suite struct ReceiveFailureTests {
  /// - Parameters:
  ///   - depayloader: what stands ahead of the tee.
  ///   - decoder: what ends in frames.
  private func run(
    encoding: String = "VP8", depayloader: String = "rtpvp8depay", decoder: String = "avdec_vp8",
    events: Collector<RoomEvent>? = nil, _ body: (TrackMedia, RemoteVideoTrack) async throws -> Void
  ) async throws {
    let text = """
      # Fails.
      appsrc name=rtp caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=\(encoding)"
      ! rtpjitterbuffer name=jitter faststart-min-packets=1 ! \(depayloader) ! tee name=media allow-not-linked=true
      media. ! appsink name=encoded sync=false async=false
      media. ! \(decoder) ! appsink name=frames sync=false async=false
      """
    let folder = try TemporaryFolder()
    let file = URL(fileURLWithPath: "\(folder.path)/receive/vp8.pipeline")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    let options = RoomOptions(adaptiveStream: false, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, codecs: ["alice": "vp8"], events: events) { watcher in
      let track = try await watcher.tracks().0
      try await body(try #require(track.incoming), track)
    }
  }

  private func failure(in events: Collector<RoomEvent>) async throws -> LiveKitError {
    try await eventually("the failure") {
      events.values.lazy.compactMap { if case .subscriptionFailed(_, _, let error) = $0 { error } else { nil } }.first
    }
  }

  /// What cannot be decoded can be stored all the same.
  @Test func anOutputThatFailsLeavesTheOthersAlone() async throws {
    try await run(decoder: "identity error-after=3") { media, _ in
      let (stored, failures) = (Collector<Int>(), Collector<LiveKitError>())
      let file = try media.consume(.encoded, onFailure: { failures.add($0) }) { _ in stored.add(1) }
      let screen = try media.consume(.raw, onFailure: { failures.add($0) }) { _ in }
      try await eventually("the failure") { failures.count == 1 }
      let count = stored.count
      try await eventually("frames for the file") { stored.count > count + 5 }
      #expect(failures.count == 1 && failures.values[0].message.contains("identity"))
      // The next one tries again.
      let frames = Collector<Int>()
      let next = try media.consume(.raw, onFailure: { _ in }) { _ in frames.add(1) }
      try await eventually("frames of another try") { frames.count > 0 }
      for consumer in [file, screen, next] { consumer.stop() }
    }
  }

  /// A driver that loses its device says so more than once, as does what feeds an element that fails.
  @Test func anOutputThatFailsWithSeveralErrorsLeavesTheOthersAlone() async throws {
    try await run(decoder: "avdec_vp8 ! imagefreeze ! identity error-after=3") { media, _ in
      let (stored, shown) = (Collector<LiveKitError>(), Collector<LiveKitError>())
      let file = try media.consume(.encoded, onFailure: { stored.add($0) }) { _ in }
      let screen = try media.consume(.raw, onFailure: { shown.add($0) }) { _ in }
      let pipeline = media.pipeline
      try await eventually("the failure of two tries") { shown.count > 1 }
      #expect(stored.values.isEmpty && media.pipeline === pipeline)
      for consumer in [file, screen] { consumer.stop() }
    }
  }

  /// There is no appsrc any more that would say so.
  @Test(arguments: [("VP8", "rtpvp8depay ! video/x-vp8,width=1"), ("H264", "rtpvp8depay")])
  func aTemplateThatTakesSomethingElseIsTold(encoding: String, depayloader: String) async throws {
    let events = Collector<RoomEvent>()
    try await run(encoding: encoding, depayloader: depayloader, events: events) { _, track in
      track.add(videoRenderer: VideoFrameHandler { _ in })
      let error = try await failure(in: events)
      #expect(error.message.contains("receive/vp8.pipeline"), "\(error.message)")
    }
  }

  /// Nobody waits for a turn of their own, and a device that only one may have is free by then.
  @Test func aPipelineThatIsMadeAnewServesAll() async throws {
    try await run(depayloader: "rtpvp8depay ! identity error-after=60") { media, _ in
      let (failures, begun) = (Collector<LiveKitError>(), Collector<Int>())
      let file = try media.consume(.encoded, onFailure: { failures.add($0) }, onBegin: { begun.add(1) }) { _ in }
      let screen = try media.consume(.raw, onFailure: { _ in }) { _ in }
      let failed = try #require(media.pipeline)
      try await eventually("the failure") { failures.count > 0 }
      let next = try media.consume(.raw, onFailure: { _ in }) { _ in }
      #expect(begun.count > 1)
      try await eventually("the end of its decoder") { !failed.pipeline.factories.contains("avdec_vp8") }
      for consumer in [file, screen, next] { consumer.stop() }
    }
  }

  /// A decoder of the hardware may be lost for a moment, alone or with all of its pipeline.
  @Test(arguments: [
    ("rtpvp8depay", "avdec_vp8 ! identity error-after=10"), ("rtpvp8depay ! identity error-after=60", "avdec_vp8"),
  ])
  func whatFailsIsTriedAgain(depayloader: String, decoder: String) async throws {
    let events = Collector<RoomEvent>()
    try await run(depayloader: depayloader, decoder: decoder, events: events) { media, track in
      let (frames, stored) = (Collector<MediaTime>(), Collector<MediaTime>())
      track.add(videoRenderer: VideoFrameHandler { frames.add($0.time) })
      let file = try media.consume(.encoded, onFailure: { _ in }) { $0.pts.map(stored.add) }
      let error = try await failure(in: events)
      let (shown, kept) = (frames.count, stored.count)
      try await eventually("frames again") { frames.count > shown && stored.count > kept + 5 }
      #expect(error.message.contains("identity") && error.message.hasSuffix("it is tried again"), "\(error.message)")
      #expect(zip(frames.values, frames.values.dropFirst()).allSatisfy { $0 < $1 })
      file.stop()
    }
  }
}
