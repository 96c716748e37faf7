import BridgeTesting
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Video that is muted when it is published: who joins with the camera off.
@Suite struct MutedPublishingTests {
  private static let size = Dimensions(width: 320, height: 180)

  private static var frame: VideoFrame? {
    let (width, height) = (Int(size.width), Int(size.height))
    return VideoFrame(i420: [UInt8](repeating: 128, count: width * height * 3 / 2), width: width, height: height)
  }

  /// Gives a frame each 20 ms while it is on.
  private final class Camera: MediaCapture {
    let goesOnMuted: Bool
    /// Whether it gives any yet.
    let gives: Locked<Bool>
    private let feed = Locked<Task<Void, Never>?>(nil)

    init(goesOnMuted: Bool = false, givesAtOnce: Bool = true) {
      self.goesOnMuted = goesOnMuted
      gives = Locked(givesAtOnce)
    }

    var isOn: Bool { feed.withLock { $0 != nil } }

    func start(_ handlers: CaptureHandlers) {
      let task = Task { [gives] in
        while !Task.isCancelled {
          if gives.withLock({ $0 }), let frame = MutedPublishingTests.frame {
            handlers.media(CapturedMedia(media: frame.buffer.media, time: frame.time))
          }
          try? await Task.sleep(for: .milliseconds(20))
        }
      }
      feed.withLock { $0 = task }
    }

    func stop() async {
      let task = feed.withLock { feed -> Task<Void, Never>? in
        defer { feed = nil }
        return feed
      }
      task?.cancel()
      await task?.value
    }
  }

  private func run(_ body: (_ alice: LocalParticipant, _ bob: Room) async throws -> Void) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let (alice, bob) = (Room(), Room(roomOptions: RoomOptions(adaptiveStream: false)))
    let outcome: Result<Void, any Error>
    do {
      for (room, identity) in [(alice, "alice"), (bob, "bob")] {
        let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
        try await room.connect(url: synthetic.url, token: try SyntheticRoom.token(identity, grant))
      }
      outcome = .success(try await body(alice.localParticipant, bob))
    } catch { outcome = .failure(error) }
    for room in [alice, bob] { await room.disconnect() }
    await synthetic.stop()
    try outcome.get()
  }

  /// The others see it muted, and nothing of it is sent before it is unmuted.
  private func expectMuted(_ publication: LocalTrackPublication, at bob: Room) async throws {
    #expect(publication.isMuted && publication.captured.isMuted && publication.dimensions == Self.size)
    let sid = publication.sid
    try await eventually("a muted publication") {
      bob.remoteParticipants["alice"]?.videoTracks.first(where: { $0.sid == sid })?.isMuted == true
    }
    #expect(publication.sent.packets == 0)
  }

  private func expectFrames(of publication: LocalTrackPublication, at bob: Room) async throws {
    let sid = publication.sid
    let track = try await eventually("the track, unmuted") { () -> RemoteVideoTrack? in
      guard let remote = bob.remoteParticipants["alice"]?.videoTracks.first(where: { $0.sid == sid }), !remote.isMuted
      else { return nil }
      return remote.track as? RemoteVideoTrack
    }
    let frames = Collector(track.frames()) { $0.dimensions }
    try await eventually("frames") { frames.count > 5 }
    #expect(frames.values.last == Self.size)
  }

  /// A device is let go of as soon as its size is known; what is none goes on.
  @Test(arguments: [false, true]) func aMutedTrackIsPublishedAndUnmuted(goesOnMuted: Bool) async throws {
    try await run { alice, bob in
      let camera = Camera(goesOnMuted: goesOnMuted)
      let track = LocalVideoTrack(name: "camera", source: .camera, capture: camera)
      try await track.mute()
      // The second time it has been unpublished while it was muted.
      for _ in 0..<2 {
        let publication = try await alice.publish(videoTrack: track)
        #expect(camera.isOn == goesOnMuted)
        try await expectMuted(publication, at: bob)
        try await publication.unmute()
        try await expectFrames(of: publication, at: bob)
        try await publication.mute()
        try await alice.unpublish(publication: publication)
        #expect(!camera.isOn)
      }
    }
  }

  @Test func aTemplateThatIsMutedIsPublished() async throws {
    try await run { alice, bob in
      let values = ["width": "320", "height": "180", "framerate": "20/1"]
      let track = LocalVideoTrack.createCameraTrack(
        options: CameraCaptureOptions(template: "pattern", values: values))
      try await track.mute()
      let publication = try await alice.publish(videoTrack: track)
      try await expectMuted(publication, at: bob)
      try await publication.unmute()
      try await expectFrames(of: publication, at: bob)
    }
  }

  @Test func whatIsMutedBeforeItsFirstFrameIsPublishedMuted() async throws {
    try await run { alice, bob in
      let camera = Camera(givesAtOnce: false)
      let track = LocalVideoTrack(name: "camera", source: .camera, capture: camera)
      let publishing = Task { try await alice.publish(videoTrack: track) }
      try await eventually("that it captures") { camera.isOn }
      try await track.mute()
      #expect(camera.isOn, "its size is not known yet")
      camera.gives.withLock { $0 = true }
      let publication = try await publishing.value
      #expect(!camera.isOn)
      try await expectMuted(publication, at: bob)
    }
  }

  @Test func aMutedTrackOfTheProgramsOwnNeedsAFrameBefore() async throws {
    try await run { alice, bob in
      let track = LocalVideoTrack.createBufferTrack(source: .camera)
      let capturer = try #require(track.capturer)
      try await track.mute()
      let frame = try #require(Self.frame)
      let clock = ContinuousClock()
      let begun = clock.now
      let refused = await #expect(throws: LiveKitError.self) { try await alice.publish(videoTrack: track) }
      #expect(refused?.code == .noMedia && refused?.fault == .caller && clock.now - begun < .seconds(8))
      #expect(track.trackState == .stopped && alice.trackPublications.isEmpty)
      capturer.capture(frame)
      let publication = try await alice.publish(videoTrack: track)
      try await expectMuted(publication, at: bob)
      let feed = Task {
        while !Task.isCancelled {
          if let frame = Self.frame { capturer.capture(frame) }
          try await Task.sleep(for: .milliseconds(20))
        }
      }
      defer { feed.cancel() }
      try await publication.unmute()
      try await expectFrames(of: publication, at: bob)
    }
  }
}
