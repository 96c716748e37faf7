import BridgeTesting
import Egress
import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Counts what the whole process holds, so it runs in a process of its own: `make endurance` gives it one.
@Suite("Endurance", .serialized)
struct EnduranceTests {
  /// How many more idle threads the pools may hold, which follow the load of the machine: 3 were seen. Of all others there
  /// is to be none more, and what leaks does so in each of hundreds of rounds.
  private static let pooled = 8

  @Test func fiftyRecordingsLeaveNothingBehind() async throws {
    // 20 KB a recording, of which each handles some hundred.
    try await expectNothingLeft(behind: "recordings", after: 10, rounds: 50) {
      try await record($0, from: $1, into: $2)
    }
  }

  @Test func twentyCompositesLeaveNothingBehind() async throws {
    // 50 KB a composite, of which each frame has more than a megabyte.
    try await expectNothingLeft(behind: "composites", after: 5, rounds: 20) { try await mix($0, from: $1, into: $2) }
  }

  /// - Parameter warmUp: rounds before that, since what is made once, such as GStreamer's registry, comes with the first.
  private func expectNothingLeft(
    behind what: String, after warmUp: Int, rounds: Int, _ body: (Int, SyntheticRoom, String) async throws -> Void
  ) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "h264"])
    let folder = try TemporaryFolder()
    try await expectNothingLeft(behind: what, after: warmUp, rounds: rounds, heap: 1 << 20) {
      try await body($0, synthetic, folder.path)
    }
    await synthetic.stop()
  }

  /// - Parameter heap: by how much less it may have grown, in bytes.
  private func expectNothingLeft(
    behind what: String, after warmUp: Int, rounds: Int, heap: Int, _ body: (Int) async throws -> Void
  ) async throws {
    for index in 0..<warmUp { try await body(index) }
    let before = try await quiet()
    for index in 0..<rounds { try await body(index) }
    let after = try await quiet(like: before)
    print("\(rounds) \(what): before \(before); after \(after)")
    #expect(isFree(after, of: before), "before \(before); after \(after): \(Footprint.threadNames)")
    #expect(after.heap < before.heap + heap, "before \(before); after \(after)")
  }

  @Test func renderersAndSubscriptionsLeaveNothingBehind() async throws {
    let synthetic = try await SyntheticRoom.start()
    let room = Room()
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
    let camera = try await eventually("the camera") {
      room.remoteParticipants["alice"]?.videoTracks.first { $0.isSubscribed }
    }
    let microphone = try await eventually("the microphone") {
      room.remoteParticipants["alice"]?.audioTracks.first { $0.isSubscribed }
    }
    let alive = Living()
    for _ in 0..<20 { try await attach(to: camera, microphone, alive) }
    for _ in 0..<20 { try await resubscribe(to: camera, alive) }
    let before = try await quiet()
    for _ in 0..<200 { try await attach(to: camera, microphone, alive) }
    try await withRenderers(of: camera, microphone) {
      for _ in 0..<800 { try await attach(to: camera, microphone, alive) }
    }
    for _ in 0..<200 { try await resubscribe(to: camera, alive) }
    // What receives a track is there until the track ends.
    try await resubscribe(to: microphone, alive)
    try await eventually("the end of everything that was made") { alive.names.isEmpty }
    let after = try await quiet(like: before)
    print("1000 renderers, 200 subscriptions: before \(before); after \(after)")
    #expect(isFree(after, of: before), "before \(before); after \(after): \(Footprint.threadNames)")
    // Dispatch keeps jobs that it is done with, and the testing library a backtrace of every error that was thrown, such
    // as by each cancelled sleep: together a kilobyte each time. What GLib and the C library keep, `make endurance`
    // turns off.
    #expect(after.heap < before.heap + 2 << 20, "before \(before); after \(after)")
    await room.disconnect()
    await synthetic.stop()
  }

  /// Others come and go faster than decoders do while `body` runs.
  private func withRenderers(
    of camera: RemoteTrackPublication, _ microphone: RemoteTrackPublication, _ body: () async throws -> Void
  ) async throws {
    let (screen, ear) = (VideoFrameHandler { _ in }, AudioBufferHandler { _ in })
    let video = try #require(camera.track as? RemoteVideoTrack)
    let audio = try #require(microphone.track as? RemoteAudioTrack)
    video.add(videoRenderer: screen)
    audio.add(audioRenderer: ear)
    try await body()
    video.remove(videoRenderer: screen)
    audio.remove(audioRenderer: ear)
  }

  /// Two renderers of each kind come, get something, and go; the decoders with the first and the last.
  private func attach(
    to camera: RemoteTrackPublication, _ microphone: RemoteTrackPublication, _ alive: Living
  ) async throws {
    let video = try #require(camera.track as? RemoteVideoTrack)
    let audio = try #require(microphone.track as? RemoteAudioTrack)
    let calls = Collector<ObjectIdentifier>()
    let screens = (0..<2).map { _ in Screen(calls) }
    let ears = (0..<2).map { _ in Ear(calls) }
    for screen in screens { video.add(videoRenderer: screen) }
    for ear in ears { audio.add(audioRenderer: ear) }
    let all = Set(screens.map(ObjectIdentifier.init) + ears.map(ObjectIdentifier.init))
    try await eventually("a call of each") { all.isSubset(of: calls.values) }
    alive.add(screens + ears)
    for track in [video, audio] {
      let receiver = try #require(track.incoming?.pipeline)
      alive.add([receiver, receiver.pipeline])
    }
    for screen in screens { video.remove(videoRenderer: screen) }
    for ear in ears { audio.remove(audioRenderer: ear) }
  }

  private func resubscribe(to camera: RemoteTrackPublication, _ alive: Living) async throws {
    let track = try #require(camera.track)
    alive.add([track, try #require(track.incoming)])
    try await camera.set(subscribed: false)
    try await eventually("the end of the subscription") { !camera.isSubscribed }
    try await camera.set(subscribed: true)
    try await eventually("the subscription") { camera.isSubscribed }
  }

  @Test func publishingLeavesNothingBehind() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let room = Room()
    let grant = VideoGrant.publisher(room: SyntheticRoom.name)
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("alice", grant))
    try await expectNothingLeft(behind: "publications", after: 20, rounds: 200, heap: 2 << 20) { _ in
      try await publish(into: room)
    }
    await room.disconnect()
    await synthetic.stop()
  }

  private func publish(into room: Room) async throws {
    let small = ["width": "160", "height": "90"]
    let camera = LocalVideoTrack.createCameraTrack(options: CameraCaptureOptions(template: "pattern", values: small))
    let tone = LocalAudioTrack.createTrack(options: AudioCaptureOptions(template: "tone"))
    let publication = try await room.localParticipant.publish(videoTrack: camera)
    try await room.localParticipant.publish(audioTrack: tone)
    try await eventually("packets") { publication.sent.packets > 2 }
    await room.localParticipant.unpublishAll()
  }

  @Test func hundredsOfFramesLeaveNothingBehind() async throws {
    let buffer = try #require(QuadrantFrame(width: 321, height: 183).i420(quarterTurns: 1))
    let frame = VideoFrame(buffer: buffer, time: .now)
    func convert() throws {
      for format in [VideoFrame.PixelFormat.rgba, .nv12, .gray8] { _ = try frame.converted(to: format) }
      _ = (try frame.pngData(), try frame.jpegData())
    }
    for _ in 0..<20 { try convert() }
    let before = Footprint.current
    for _ in 0..<300 { try convert() }
    // The last pipelines may be ending still.
    try? await eventually("their end") { isFree(.current, of: before) }
    let after = Footprint.current
    print("three hundred frames: before \(before); after \(after)")
    #expect(isFree(after, of: before), "before \(before); after \(after): \(Footprint.threadNames)")
    // 1700 bytes a round, whose frames have a megabyte.
    #expect(after.heap < before.heap + 1 << 19, "before \(before); after \(after)")
  }

  private func record(_ index: Int, from synthetic: SyntheticRoom, into folder: String) async throws {
    let room = Room()
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("recorder"))
    let (who, kind) = index.isMultiple(of: 2) ? ("alice", "mkv") : ("bob", "mp4")
    let file = "\(folder)/\(index).\(kind)"
    let recorder = Recorder(
      room: room, options: RecordingOptions(file: file, participant: who, wait: .seconds(20)))
    try await recorder.start()
    try await eventually("half a second of media") { await recorder.progress().duration > .milliseconds(500) }
    let progress = try await recorder.finish()
    #expect(progress.bytes > 5000 && progress.video?.buffers ?? 0 > 5)
    await room.disconnect()
    try FileManager.default.removeItem(atPath: file)
  }

  private func mix(_ index: Int, from synthetic: SyntheticRoom, into folder: String) async throws {
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("mixer"))
    let kind = index.isMultiple(of: 2) ? "mkv" : "mp4"
    let composite = RoomComposite(
      room: room,
      options: CompositeOptions(
        file: "\(folder)/\(index).\(kind)", layout: index.isMultiple(of: 3) ? .speaker : .grid,
        wait: .seconds(20), values: ["audio-delay": "200000000"]))
    try await composite.start()
    await composite.set(layout: .singleSpeaker)
    try await eventually("half a second of media") { await composite.progress().duration > .milliseconds(500) }
    let progress = try await composite.finish()
    #expect(progress.bytes > 5000 && progress.video?.buffers ?? 0 > 5)
    await room.disconnect()
  }

  /// Whether no thread and no descriptor was left behind.
  private func isFree(_ after: Footprint, of before: Footprint) -> Bool {
    after.working <= before.working && after.pooled <= before.pooled + Self.pooled
      && after.descriptors <= before.descriptors
  }

  /// The footprint once the idle threads of pools have ended.
  /// - Parameter before: what it is to be like; on a busy machine that takes longer.
  private func quiet(like before: Footprint? = nil) async throws -> Footprint {
    let least = Locked(Footprint.current)
    let begin = ContinuousClock.now
    try await eventually("the end of idle threads", within: .seconds(70)) {
      let now = Footprint.current
      let isQuiet = least.withLock { least in
        if (now.working, now.pooled) < (least.working, least.pooled) { least = now }
        return before.map { isFree(least, of: $0) } ?? true
      }
      return .now > begin + .seconds(isQuiet ? 20 : 60)
    }
    return least.withLock { $0 }
  }
}

/// What has not gone yet of what was made.
private final class Living: Sendable {
  /// `@unchecked Sendable`: only passes a reference on.
  private struct Entry: @unchecked Sendable {
    weak var object: AnyObject?
  }
  /// By identity, since what is there for long is added again and again.
  private let entries = Locked<[ObjectIdentifier: Entry]>([:])

  func add(_ objects: [AnyObject]) {
    let new = objects.map { (ObjectIdentifier($0), Entry(object: $0)) }
    forgetTheDead()
    entries.withLock { $0.merge(new) { _, new in new } }
  }

  var names: [String] {
    forgetTheDead()
    return entries.withLock { $0 }.values.compactMap { $0.object.map { "\(type(of: $0))" } }
  }

  /// Of what has gone a weak reference still keeps some bytes, which are not to be taken for a leak.
  private func forgetTheDead() { entries.withLock { $0 = $0.filter { $0.value.object != nil } } }
}

private final class Screen: VideoRenderer, Sendable {
  private let calls: Collector<ObjectIdentifier>
  init(_ calls: Collector<ObjectIdentifier>) { self.calls = calls }
  @MainActor func set(size: CGSize) {}
  func render(frame: VideoFrame) { calls.add(ObjectIdentifier(self)) }
}

private final class Ear: AudioRenderer, Sendable {
  private let calls: Collector<ObjectIdentifier>
  init(_ calls: Collector<ObjectIdentifier>) { self.calls = calls }
  func render(pcmBuffer: AudioPCMBuffer) { calls.add(ObjectIdentifier(self)) }
}
