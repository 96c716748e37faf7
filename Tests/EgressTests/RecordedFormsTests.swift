import BridgeTesting
import MediaBridge
import Testing

@testable import Egress

/// A track that one destination has as it was sent, and another one decoded.
@Suite struct RecordedFormsTests {
  /// H.264 that nothing decodes, as where the decoder is missing.
  private static let undecoded = """
    appsrc name=rtp max-bytes=0 caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264"
    ! rtpjitterbuffer name=jitter latency=500 faststart-min-packets=1 do-lost=true
    ! rtph264depay request-keyframe=true wait-for-keyframe=true ! tee name=media allow-not-linked=true
    media. ! h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au
    ! appsink name=encoded sync=false async=false
    """

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(template: "receive/h264", Self.undecoded) }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// Alice's H.264 in `a.mkv`, as it is sent.
  private func record(_ body: (Recorder, Watcher) async throws -> Void) async throws {
    let options = RoomOptions(autoSubscribe: false, audioPlayback: .off, pipelineFolder: folder.path)
    try await Watcher.run(options, codecs: ["alice": "h264"]) { watcher in
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(file: path("a.mkv"), participant: "alice", wait: .seconds(20)))
      try await recorder.start()
      try await body(recorder, watcher)
    }
  }

  private func frames(_ recorder: Recorder) async -> Int {
    await recorder.progress().destinations[0].tracks.first { $0.kind == .video }?.buffers ?? 0
  }

  private func grow(_ recorder: Recorder) async throws {
    let before = await frames(recorder)
    try await eventually("more frames as they are sent") { await frames(recorder) > before + 25 }
  }

  private func isVideoMissed(_ recorder: Recorder) async -> Bool {
    await recorder.progress().omissions.contains { $0.kind == .video && $0.wasWanted }
  }

  /// Nor is it forgotten in another session, though the camera goes on there and nothing needs it decoded any more.
  @Test func oneThatCannotBeDecodedForStopsNobodyElse() async throws {
    try await record { recorder, watcher in
      try await recorder.add(OutputDestination(path("b.webm")))
      try await eventually("the omission") { await isVideoMissed(recorder) }
      try await grow(recorder)
      _ = try? await recorder.remove(path("b.webm"))
      let events = Collector<RoomEvent>()
      let reader = Task { [stream = watcher.room.events] in for await event in stream { events.add(event) } }
      defer { reader.cancel() }
      watcher.tell { $0.leave.action = .reconnect }
      try await eventually("another session") {
        events.values.contains { if case .reconnected(.full) = $0 { true } else { false } }
      }
      try await grow(recorder)
      _ = try? await recorder.finish()
      #expect(await isVideoMissed(recorder))
    }
  }

  @Test func whatFailsJustBeforeTheEndIsTold() async throws {
    try await record { recorder, _ in
      try await recorder.add(OutputDestination(path("b.webm")))
      _ = try? await recorder.finish()
      #expect(await isVideoMissed(recorder))
    }
  }

  @Test func whatDidNotComeForAWhileStaysKnown() {
    var tracks = RecordedTracks(TrackChoice(RecordingOptions(file: "a.mkv")))
    for sid in ["TR_1", "TR_2"] {
      let omission = Omission(
        sid: sid, kind: .video, source: .camera, participant: "alice", reason: "it failed", wasWanted: true)
      _ = tracks.omissions.note(omission)
    }
    tracks.noteInterruption(of: "TR_1")
    for sid in ["TR_1", "TR_2"] { tracks.forgetOmission(of: sid) }
    #expect(tracks.omissions.all.map(\.sid) == ["TR_1"])
  }
}
