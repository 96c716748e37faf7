import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

/// Audio fallback where it is not the way to here that is too narrow, but this machine that is too slow.
@Suite struct SlowDecoderTests {
  /// The receive template, with a decoder that has two and a half frames a second.
  private func slowTemplates() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let shipped = URL(fileURLWithPath: #filePath).appending(path: "../../../../pipelines/receive/vp8.pipeline")
      .standardized
    let text = try String(contentsOf: shipped, encoding: .utf8)
    let end = "! appsink name=frames"
    try #require(text.contains(end))
    try FileManager.default.createDirectory(atPath: folder.path + "/receive", withIntermediateDirectories: true)
    try text.replacingOccurrences(of: end, with: "! identity sleep-time=400000 \(end)")
      .write(toFile: folder.path + "/receive/vp8.pipeline", atomically: true, encoding: .utf8)
    return folder
  }

  @Test func framesThatCannotBeDecodedInTimeAreGivenUp() async throws {
    let folder = try slowTemplates()
    let events = Collector<RoomEvent>()
    let options = RoomOptions(
      adaptiveStream: false, audioFallback: true, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, events: events) { watcher in
      let (camera, track) = (try await watcher.camera(), try await watcher.tracks().0)
      let renderer = VideoFrameHandler { _ in }
      track.add(videoRenderer: renderer)
      @Sendable func reasons() -> [String] { events.values.compactMap(\.videoChange) }
      try await eventually("the end of the frames", within: .seconds(30)) { reasons() == ["-qualityChanged"] }
      #expect(!camera.isEnabled && camera.streamState == .paused && camera.isSubscribed)
      try await eventually("word of it at the server") {
        watcher.told.values.last { $0.trackSids == [camera.sid] }?.disabled == true
      }
      // Whatever kept the machine busy is over: here, its decoder.
      track.remove(videoRenderer: renderer)
      try await eventually("the next try", within: .seconds(20)) {
        reasons() == ["-qualityChanged", "+qualityChanged"]
      }
      try await eventually("frames that come") { camera.isEnabled && camera.streamState == .active }
    }
  }
}
