import BridgeTesting
import LiveKitProtocol
import MediaBridge
import MediaCore
import SyntheticParticipants
import Testing

/// A track in several layers, and what is seen when one asks for another of them.
@Suite struct LayerTests {
  private struct Frame {
    var height: Int32
    var time: Int64
  }

  private struct Scene: Sendable {
    let publication: RemoteTrackPublication
    let frames: Locked<[Frame]>
    let failures: Locked<[LiveKitError]>

    func newest(isOf height: Int32, after count: Int) -> Bool {
      frames.withLock { $0.count > count + 5 && $0.suffix(5).allSatisfy { $0.height == height } }
    }

    var count: Int { frames.withLock { $0.count } }
  }

  private static let heights: [VideoQuality: Int32] = [.low: 90, .medium: 180, .high: 360]

  private static let camera = """
    # H.264 in any size.
    videotestsrc is-live=true pattern=ball
    ! video/x-raw,format=I420,width=${width:-640},height=${height:-360},framerate=${framerate:-25/1}
    ! x264enc bitrate=${bitrate:-800} speed-preset=ultrafast tune=zerolatency key-int-max=${gop:-25} threads=1 bframes=0
    ! video/x-h264,profile=constrained-baseline ! rtph264pay config-interval=-1 aggregate-mode=zero-latency
    ! appsink name=video sync=false
    """

  private func run(_ body: (Scene) async throws -> Void) async throws {
    let layers = Self.heights.values.sorted().map {
      CaptureClip.Layer(dimensions: Dimensions(width: $0 * 16 / 9, height: $0), bitrate: Int($0) * 1000)
    }
    let folder = try TemporaryFolder(template: "capture/camera", Self.camera)
    let clip = try await CaptureClip.record(
      template: "camera", layers: layers, rate: 20, seconds: 1, values: [:], pipelineFolder: folder.path)
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let publisher = ClipPublisher(clip, codec: "h264")
    let grant = VideoGrant.publisher(room: SyntheticRoom.name)
    try await publisher.connect(url: synthetic.url, token: try SyntheticRoom.token("alice", grant))
    let room = Room(roomOptions: RoomOptions(adaptiveStream: false))
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
    let publication = try await eventually("the camera") {
      room.remoteParticipants["alice"]?.videoTracks.first { $0.isSubscribed }
    }
    try await body(watch(publication, in: room))
    await room.disconnect()
    await publisher.disconnect()
    await synthetic.stop()
  }

  private func watch(_ publication: RemoteTrackPublication, in room: Room) throws -> Scene {
    let scene = Scene(publication: publication, frames: Locked([]), failures: Locked([]))
    let (events, failures, frames) = (room.events, scene.failures, scene.frames)
    Task {
      for await event in events {
        if case .subscriptionFailed(_, _, let error) = event { failures.withLock { $0.append(error) } }
      }
    }
    let track = try #require(publication.track as? RemoteVideoTrack)
    track.add(
      videoRenderer: VideoFrameHandler { frame in
        frames.withLock { $0.append(Frame(height: frame.dimensions.height, time: frame.timeStampNs)) }
      })
    return scene
  }

  private func expectUnbroken(_ scene: Scene) {
    let frames = scene.frames.withLock { $0 }
    let back = zip(frames, frames.dropFirst()).filter { $1.time <= $0.time }
    #expect(back.isEmpty, "time goes back")
    #expect(scene.failures.withLock { $0 }.isEmpty)
  }

  @Test func theLayerThatIsAskedForComes() async throws {
    try await run { scene in
      #expect(scene.publication.simulcasted && scene.publication.layers.map(\.dimensions.height) == [90, 180, 360])
      try await eventually("the largest layer") { scene.newest(isOf: 360, after: 0) }
      for quality in [VideoQuality.low, .high, .medium, .low, .high] {
        let (before, height) = (scene.count, try #require(Self.heights[quality]))
        try await scene.publication.set(videoQuality: quality)
        try await eventually("\(quality)") { scene.newest(isOf: height, after: before) }
      }
      let before = scene.count
      try await scene.publication.set(preferredDimensions: Dimensions(width: 300, height: 170))
      try await eventually("the layer for a size") { scene.newest(isOf: 180, after: before) }
      expectUnbroken(scene)
    }
  }

  @Test func whoChangesOftenGetsWhatWasAskedForLast() async throws {
    try await run { scene in
      try await eventually("frames") { scene.count > 5 }
      for flip in 0..<30 {
        let before = scene.count
        try await scene.publication.set(videoQuality: flip % 2 == 0 ? .high : .low)
        try await eventually("a few frames") { scene.count > before + 4 }
      }
      let before = scene.count
      try await eventually("the last one") { scene.newest(isOf: 90, after: before) }
      expectUnbroken(scene)
    }
  }
}
