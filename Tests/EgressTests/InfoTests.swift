import BridgeTesting
import Egress
import Foundation
import MediaBridge
import Testing

/// How a job is told in the words of LiveKit's Egress API.
@Suite struct InfoTests {
  /// As mkv, until it has got some packets.
  private static let failing = """
    matroskamux name=mux ! filesink location=${location}
    appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream caps="audio/x-opus"
    ! identity error-after=20 ! opusparse ! mux.
    """

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/output", withIntermediateDirectories: false)
    try Self.failing.write(toFile: path("output/failing.pipeline"), atomically: true, encoding: .utf8)
  }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// With what it tells of itself from before its start on.
  private func record(
    _ destinations: [OutputDestination], _ body: (Recorder, Collector<OutputProgress>) async throws -> Void
  ) async throws {
    let options = RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, codecs: ["alice": "h264"]) { watcher in
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(destinations: destinations, participant: "alice", wait: .seconds(20)))
      #expect(await recorder.info.status == .starting)
      let updates = Collector(recorder.progressUpdates(every: .milliseconds(100))) { $0 }
      try await recorder.start()
      let info = await recorder.info
      #expect(info.status == .active && info.roomName == watcher.room.name && info.startedAt != nil)
      try await body(recorder, updates)
    }
  }

  @Test func eachKindOfOutputHasItsResult() async throws {
    let destinations = [
      OutputDestination(path("a.mkv")), OutputDestination("udp://127.0.0.1:9", output: "udp"),
      OutputDestination(path("live.m3u8")),
      OutputDestination(path("shot.jpg"), values: ["capture-interval": "0.2"]),
    ]
    try await record(destinations) { recorder, updates in
      let last = Task { [events = recorder.events] in await events.reduce(into: nil) { $0 = $1 } }
      // A busy machine writes in less than a second what was to take one.
      try await eventually("a second, and images") {
        let (progress, file) = (await recorder.progress(), await recorder.info.fileResults.first)
        return updates.count > 5 && -(file?.startedAt?.timeIntervalSinceNow ?? 0) > 1 && progress.duration > .seconds(1)
          && (progress.destinations.last?.segments.count ?? 0) > 1
      }
      let done = try await recorder.finish()
      let info = await recorder.info
      #expect(info.status == .complete && info.error == nil && info.endedAt != nil)
      #expect(info.request == "participant alice" && info.details == "End reason: StopEgress API")
      guard case .ended(info)? = await last.value else {
        throw LiveKitError(.invalidState, "the last event is the end")
      }
      try await eventually("the last update") { updates.values.last == done }
      let durations = updates.values.map(\.duration)
      #expect(durations == durations.sorted() && durations[0] < .milliseconds(500), "\(durations)")

      let file = try #require(info.fileResults.first)
      #expect(file.filename == "a.mkv" && file.size == done.destinations[0].bytes)
      // The audio of the last moment may be on its way.
      #expect(file.duration > .milliseconds(800))
      let (began, ended) = (try #require(file.startedAt), try #require(file.endedAt))
      #expect(ended.timeIntervalSince(began) > 0.8)
      #expect(info.streamResults.map(\.status) == [.finished] && info.streamResults[0].url == "udp://127.0.0.1:9")
      let segments = try #require(info.segmentResults.first)
      #expect(segments.playlistName == "live.m3u8" && segments.segmentCount > 0 && segments.size > 0)
      #expect(info.imageResults.map(\.filenamePrefix) == [path("shot")] && info.imageResults[0].imageCount > 1)
      #expect(info.fileResults.count + info.segmentResults.count + info.imageResults.count == 3)
    }
  }

  @Test func whatFailsInPartSaysWhichPart() async throws {
    let destinations = [OutputDestination(path("a.mkv")), OutputDestination(path("b"), output: "failing")]
    try await record(destinations) { recorder, _ in
      try await eventually("its failure") { await recorder.progress().destinations[1].state == .failed }
      #expect(await recorder.info.status == .active, "the other goes on")
      _ = try? await recorder.finish()
      let info = await recorder.info
      #expect(info.status == .failed && info.error?.message.contains(path("b")) == true)
      #expect(info.details == "End reason: Failure")
      #expect(info.fileResults.map { $0.error == nil } == [true, false])
      #expect(info.fileResults.allSatisfy { $0.endedAt != nil } && info.fileResults[0].size > 0)
    }
  }

  @Test func aJobThatNothingCameToIsAborted() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: [:]) { watcher in
      func job() -> any EgressJob {
        Recorder(room: watcher.room, options: RecordingOptions(file: path("a.mkv"), wait: .milliseconds(200)))
      }
      let waiting = job()
      await #expect(throws: LiveKitError.self) { try await waiting.start() }
      let info = await waiting.info
      #expect(info.status == .aborted && info.error?.code == .timedOut && info.endedAt != nil)

      let stopped = job()
      try await stopped.prepare()
      _ = try await stopped.finish()
      #expect(await stopped.info.status == .aborted)
      #expect(await stopped.info.details == "End reason: StopEgress API")
      #expect(await stopped.info.error == nil)
    }
  }

  @Test func aJobWhoseSourceHasGoneSaysSo() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8"]) { watcher in
      let options = RecordingOptions(
        file: path("{publisher_identity}.mkv"), ending: .roomEmpty, wait: .seconds(20))
      let group = RecorderGroup(room: watcher.room, each: .participant, options: options)
      let over = Task { [events = group.events] in
        for await case .over(let reason) in events { return reason }
        return EgressInfo.EndReason.stopped
      }
      try await group.start()
      await watcher.synthetic.publishers["alice"]?.disconnect()
      #expect(await over.value == .sourceClosed)
      _ = try await group.finish()
      let info = await group.info
      #expect(info.status == .complete && info.endReason == .sourceClosed && info.request == "each participant")
      #expect(info.fileResults.map(\.filename) == ["alice.mkv"])
    }
  }
}
