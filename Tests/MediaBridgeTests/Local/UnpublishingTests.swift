import BridgeTesting
import LiveKitProtocol
import Logging
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// What is taken out of a room, or goes on in it, where a device, an encoder or a decoder does not do as it should.
@Suite struct UnpublishingTests {
  /// Hands out what a test says, for which there is no decoder.
  private final class Device: MediaCapture {
    /// Settled once it is let go of.
    let freed = Outcome<Void, Never>()
    private let handlers = Locked<CaptureHandlers?>(nil)

    func start(_ handlers: CaptureHandlers) { self.handlers.withLock { $0 = handlers } }
    func stop() async { _ = await freed.result() }
    func makeDecoder(
      _ kind: CapturePipeline.Kind, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
      onFailure: @escaping @Sendable (LiveKitError) -> Void
    ) async throws(LiveKitError) -> MediaDecoder {
      throw LiveKitError(.missingElement, "there is no decoder")
    }
    func give(_ unit: Unit) {
      let captured = CapturedMedia(media: unit.media(at: .now), time: .now, isEncoded: true)
      handlers.withLock { $0 }?.media(captured)
    }
  }

  private final class Viewer: Sendable {}

  private func run(_ options: RoomOptions, _ body: (Room) async throws -> Void) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let room = Room(roomOptions: options)
    let outcome: Result<Void, any Error>
    do {
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("alice", grant))
      outcome = .success(try await body(room))
    } catch { outcome = .failure(error) }
    await room.disconnect()
    await synthetic.stop()
    try outcome.get()
  }

  /// It is published anew while the encoder that had it before has not stopped, whose end is not that of the new one.
  @Test func aTrackThatIsPublishedAnewGoesOnBehindASlowEncoder() async throws {
    let text = """
      # Opus, of which each piece takes two seconds.
      appsrc name=pcm max-buffers=10 max-bytes=0 leaky-type=downstream
        caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
      ! identity sleep-time=2000000 ! opusenc ! appsink name=encoded sync=false caps="audio/x-opus"
      """
    let folder = try TemporaryFolder(template: "encode/opus", text)
    try await run(RoomOptions(pipelineFolder: folder.path)) { room in
      let alice = room.localParticipant
      let track = LocalAudioTrack.createTrack(options: AudioCaptureOptions(template: "tone"))
      let first = try await alice.publish(audioTrack: track)
      let before = first.captureCount
      try await eventually("audio in its encoder") { first.captureCount > before + 20 }
      let unpublishing = Task { try await alice.unpublish(publication: first) }
      try await eventually("that it may be published") { track.publisher.publication == nil }
      let second = try await alice.publish(audioTrack: track)
      try await unpublishing.value
      #expect(track.trackState == .started)
      let count = second.captureCount
      try await eventually("more audio") { second.captureCount > count + 20 }
    }
  }

  @Test func aDeviceThatHangsKeepsNoConnection() async throws {
    let device = Device()
    try await run(RoomOptions()) { room in
      let track = LocalAudioTrack(name: "line", source: .microphone, capture: device)
      try await room.localParticipant.publish(audioTrack: track)
      let session = try #require(room.localParticipant.session.withLock { $0 })
      let leaving = Task { await room.disconnect() }
      do {
        // The device alone would be waited for for 10 s.
        try await eventually("the end of the connection", within: .seconds(4)) { await !session.hasTransport }
      } catch { Issue.record(error) }
      device.freed.settle(.success(()))
      await leaving.value
    }
  }

  /// Its device is free, and it is told, when the room has been left.
  @Test func whatIsBeingUnpublishedIsWaitedFor() async throws {
    let device = Device()
    let steps = Collector<String>()
    try await run(RoomOptions()) { room in
      let track = LocalAudioTrack(name: "line", source: .microphone, capture: device)
      let publication = try await room.localParticipant.publish(audioTrack: track)
      let events = room.events
      let telling = Task {
        for await case .localTrackUnpublished in events { steps.add("told") }
      }
      let unpublishing = Task { try await room.localParticipant.unpublish(publication: publication) }
      try await eventually("that it is no longer published") { track.publisher.publication == nil }
      let leaving = Task {
        await room.disconnect()
        steps.add("left")
      }
      try await Task.sleep(for: .milliseconds(300))
      #expect(steps.values.isEmpty)
      device.freed.settle(.success(()))
      await leaving.value
      await telling.value
      try await unpublishing.value
    }
    #expect(steps.values.sorted() == ["left", "told"])
  }

  /// What stops later than that is waited for may belong to the connection before.
  @Test func nothingIsToldOfAConnectionBehindItsEnd() async throws {
    let room = Room()
    let session = RoomSession(room: room, options: RoomOptions(), connect: ConnectOptions())
    let limits = Collector(room.events) { event -> Int? in
      if case .downlinkLimitChanged(let bitrate) = event { bitrate } else { nil }
    }
    room.tell(.downlinkLimitChanged(1), of: session)
    room.state.withLock { $0.session = session }
    room.tell(.downlinkLimitChanged(2), of: session)
    try await eventually("what is told") { limits.count > 0 }
    #expect(limits.values == [2])
    room.state.withLock { $0.session = nil }
  }

  /// A preview, and how loud it is: neither ends what is sent, and only the room's log can tell.
  @Test func whatCannotBeDecodedIsSaidWhereTheRoomLogs() async throws {
    let (device, viewer, lines) = (Device(), Viewer(), Collector<String>())
    device.freed.settle(.success(()))
    let track = LocalAudioTrack(name: "line", source: .microphone, capture: device)
    track.media.add(viewer) { _ in }
    try await run(RoomOptions(logger: Logger(keeping: lines))) { room in
      let publication = try await room.localParticipant.publish(audioTrack: track)
      let unit = try #require(try await Video.units(.vp8).first)
      func isSaid(_ text: String) -> Bool { lines.values.contains { $0.contains(text) && $0.contains("no decoder") } }
      func areBothSaid() -> Bool { isSaid("a local track is not decoded") && isSaid("nobody knows how loud") }
      for _ in 0..<10_000 where !areBothSaid() {
        device.give(unit)
        try await Task.sleep(for: .milliseconds(2))
      }
      #expect(areBothSaid() && publication.sendFailure == nil)
    }
  }
}

extension RoomSession {
  fileprivate var hasTransport: Bool { link.transport != nil }
}
