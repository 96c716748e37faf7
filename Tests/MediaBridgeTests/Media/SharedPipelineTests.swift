import BridgeTesting
import Egress
import Foundation
import GStreamerKit
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// All consumers of a track share what receives it.
@Suite struct SharedPipelineTests {
  /// - Parameters:
  ///   - receive: the text that receives VP8.
  ///   - output: the text that writes a Matroska file.
  private func run(
    codec: String = "vp8", receive: String? = nil, output: String? = nil,
    _ body: (Watcher, RemoteVideoTrack) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    for (name, text) in ["receive/vp8": receive, "output/mkv": output] {
      guard let text else { continue }
      let file = URL(fileURLWithPath: "\(folder.path)/\(name).pipeline")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let options = RoomOptions(adaptiveStream: false, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, codecs: ["alice": codec]) { watcher in
      try await body(watcher, try await watcher.tracks().0)
    }
  }

  /// The names of threads behind queues, which GStreamer numbers. Threads of Dispatch may have the name of one that made
  /// them, so each name counts once.
  private var queueThreads: Set<String> {
    Set(Footprint.threadNames.filter { $0.hasPrefix("queue") && $0.hasSuffix(":src") })
  }

  private func elements(of track: RemoteVideoTrack) -> [String: Int] {
    Dictionary((track.incoming?.pipeline?.pipeline.factories ?? []).map { ($0, 1) }, uniquingKeysWith: +)
  }

  @Test(arguments: ["vp8", "h264"])
  func aRecorderAndTwoRenderersUseOneDecoder(_ codec: String) async throws {
    try await run(codec: codec) { watcher, track in
      let folder = try TemporaryFolder()
      let frames = Collector<Int>()
      let renderers = (0..<2).map { number in VideoFrameHandler { _ in frames.add(number) } }
      let before = queueThreads
      for renderer in renderers { track.add(videoRenderer: renderer) }
      try await eventually("frames for each") { Set(frames.values).count == 2 }
      #expect(queueThreads.subtracting(before).count == 1, "\(Footprint.threadNames)")
      // VP8 is decoded for MP4, and stored as it was sent in Matroska; H.264 is stored so in both.
      let recorders = ["a.mp4", "a.mkv"].map { name in
        Recorder(
          room: watcher.room,
          options: RecordingOptions(file: "\(folder.path)/\(name)", participant: "alice", wait: .seconds(20)))
      }
      for recorder in recorders { try await recorder.start() }
      let elements = elements(of: track)
      #expect(elements["rtp\(codec)depay"] == 1 && elements["avdec_\(codec)"] == 1 && elements["appsink"] == 2)
      // The decoder's thread is the only one.
      #expect(elements["appsrc"] == nil && elements["rtpjitterbuffer"] == nil && elements["queue"] == 1)
      for recorder in recorders {
        let progress = try await recorder.finish()
        #expect(progress.video?.buffers ?? 0 > 0 && progress.video?.buffersDropped == 0)
      }
      try await eventually("the end of what only a file wanted") { self.elements(of: track)["appsink"] == 1 }
    }
  }

  @Test func whatIsOnlyStoredHasNoDecoder() async throws {
    try await run { _, track in
      let frames = Collector<Bool>()
      let consumer = try #require(track.incoming).consume(.encoded, onFailure: { _ in }) { frames.add($0.isDelta) }
      try await eventually("frames") { frames.count > 5 }
      #expect(frames.values.first == false)
      #expect(elements(of: track)["avdec_vp8"] == nil && elements(of: track)["appsink"] == 1)
      consumer.stop()
      try await eventually("the end of the output") { self.elements(of: track)["appsink"] == nil }
    }
  }

  /// Nobody has to send a keyframe for it.
  @Test func aDecoderThatBeginsAgainBeginsWithWhatIsKept() async throws {
    try await run { watcher, track in
      let camera = try await watcher.camera()
      let (first, second) = (Collector<MediaTime>(), Collector<MediaTime>())
      let screen = VideoFrameHandler { first.add($0.time) }
      track.add(videoRenderer: screen)
      try await eventually("frames") { first.count > 2 }
      let keyframes = try #require(await camera.reception()?.keyframesReceived)
      track.incoming?.requestKeyframe()
      try await eventually("a keyframe") { (await camera.reception()?.keyframesReceived ?? 0) > keyframes }
      let (shown, requests) = (first.count, await camera.reception()?.keyframeRequests)
      try await eventually("two more frames") { first.count > shown + 1 }
      track.remove(videoRenderer: screen)
      track.add(videoRenderer: VideoFrameHandler { second.add($0.time) })
      try await eventually("frames again") { second.count > 2 }
      let newest = try #require(first.values.last)
      #expect(try #require(second.values.first) <= newest, "it begins with a frame that was there before")
      #expect(await camera.reception()?.keyframeRequests == requests)
    }
  }

  @Test func aDecoderEndsWithItsLastConsumer() async throws {
    try await run { _, track in
      let frames = Collector<Int>()
      let screens = (0..<2).map { _ in VideoFrameHandler { _ in frames.add(1) } }
      for screen in screens { track.add(videoRenderer: screen) }
      try await eventually("frames") { frames.count > 2 }
      track.remove(videoRenderer: screens[0])
      #expect(elements(of: track)["avdec_vp8"] == 1)
      track.remove(videoRenderer: screens[1])
      try await eventually("the end of the decoder") { self.elements(of: track)["avdec_vp8"] == nil }
      #expect(elements(of: track)["rtpvp8depay"] == 1 && elements(of: track)["queue"] == nil)
    }
  }

  @Test func aConsumerThatIsFullLosesAllUpToAKeyframeAndNobodyElseDoes() async throws {
    try await run { watcher, track in
      let camera = try await watcher.camera()
      let isFull = Locked(false)
      let (slow, quick) = (Collector<MediaBuffer>(), Collector<MediaBuffer>())
      let consumer = try #require(track.incoming).consume(
        .encoded, fullness: { isFull.withLock { $0 ? 1 : 0 } }, onFailure: { _ in }, onBuffer: { slow.add($0) })
      let other = try #require(track.incoming).consume(.encoded, onFailure: { _ in }, onBuffer: { quick.add($0) })
      try await eventually("frames for both") { slow.count > 5 && quick.count > 5 }
      let requests = await camera.reception()?.keyframeRequests ?? 0
      isFull.withLock { $0 = true }
      try await eventually("frames that are lost") { consumer.dropped > 2 }
      let taken = slow.count
      isFull.withLock { $0 = false }
      try await eventually("frames again") { slow.count > taken + 2 }
      #expect(slow.values[taken].isDelta == false)
      #expect(await camera.reception()?.keyframeRequests ?? 0 > requests)
      #expect(other.dropped == 0 && quick.count >= slow.count + consumer.dropped - 5)
      for consumer in [consumer, other] { consumer.stop() }
    }
  }

  /// The file's own queue is full again and again: what it holds can be decoded all the same, and its status tells.
  @Test func aFileThatIsTooSlowLosesWholeGroupsAndSaysSo() async throws {
    let output = """
      # As mkv, and slow.
      matroskamux name=mux ! filesink location=${location}
      appsrc name=video max-buffers=8 max-bytes=0 leaky-type=downstream caps="video/x-vp8"
      ! identity sleep-time=60000 ! mux.video_0
      appsrc name=audio caps="audio/x-opus" ! mux.audio_0
      """
    try await run(output: output) { watcher, track in
      let folder = try TemporaryFolder()
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(
          file: "\(folder.path)/a.mkv", participant: "alice", kinds: [.video], wait: .seconds(20)))
      try await recorder.start()
      try await eventually("frames that are lost") { await recorder.progress().video?.buffersDropped ?? 0 > 10 }
      let shown = Collector<Int>()
      track.add(videoRenderer: VideoFrameHandler { _ in shown.add(1) })
      try await eventually("frames for others") { shown.count > 5 }
      let error = await #expect(throws: LiveKitError.self) { _ = try await recorder.finish() }
      #expect(error?.message.contains(" s of video are missing, the first at ") == true)
      let progress = await recorder.progress()
      #expect(progress.video?.buffersDropped ?? 0 > 10)
      #expect(progress.destinations.first?.missing?.video ?? .zero > .milliseconds(100))
      let decoded = try BridgeTesting.run(
        "ffmpeg", ["-v", "error", "-xerror", "-i", "\(folder.path)/a.mkv", "-f", "null", "-"])
      #expect(decoded.status == 0 && decoded.errors.isEmpty, "\(decoded.errors)")
    }
  }

  /// It loses frames itself, and the other gets each of them, late by no more than it may be.
  @Test func aDecoderThatIsTooSlowHoldsUpNobodyElse() async throws {
    let slow = """
      # As vp8, and ten times too slow.
      appsrc name=rtp caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
      ! rtpjitterbuffer name=jitter faststart-min-packets=1 ! rtpvp8depay ! tee name=media allow-not-linked=true
      media. ! appsink name=encoded sync=false async=false
      media. ! avdec_vp8 ! identity sleep-time=400000 ! appsink name=frames sync=false async=false
      """
    try await run(receive: slow) { _, track in
      let (stored, shown) = (Collector<MediaTime>(), Collector<Int>())
      let screen = try #require(track.incoming).consume(.raw, onFailure: { _ in }) { _ in shown.add(1) }
      let file = try #require(track.incoming).consume(.encoded, onFailure: { _ in }) { media in
        media.pts.map(stored.add)
      }
      try await eventually("three seconds of media") { await track.incoming?.statistics().framesReceived ?? 0 > 80 }
      try await eventually("frames that the decoder loses") { screen.dropped > 25 }
      try await eventually("all frames but those of the time that the decoder may take") {
        await (track.incoming?.statistics().framesReceived ?? 0) - stored.count < 45
      }
      let gaps = zip(stored.values, stored.values.dropFirst()).map { $1 - $0 }
      #expect(gaps.allSatisfy { $0 < .milliseconds(70) } && file.dropped == 0)
      #expect(shown.count > 1)
      for consumer in [screen, file] { consumer.stop() }
    }
  }
}
