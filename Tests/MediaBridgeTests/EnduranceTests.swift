import BridgeTesting
import Foundation
import MediaCore
import Testing

@testable import MediaBridge

/// Counts what the whole process holds, so it runs in a process of its own: `make unit` gives it one.
@Suite("Endurance", .serialized)
struct EnduranceTests {
  @Test func fiftyRecordingsLeaveNothingBehind() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "h264"])
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mediabridge-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // What is made once, such as GStreamer's registry, comes with the first.
    for index in 0..<10 { try await record(index, from: synthetic, into: folder) }
    let before = try await quiet()
    for index in 0..<50 { try await record(index, from: synthetic, into: folder) }
    let after = try await quiet()
    print("fifty recordings: before \(before); after \(after)")
    #expect(after.threads <= before.threads)
    #expect(after.descriptors <= before.descriptors)
    // 20 KB a recording, of which each handles some hundred.
    #expect(after.heap < before.heap + 1 << 20, "before \(before); after \(after)")
    await synthetic.stop()
  }

  @Test func renderersAndSubscriptionsLeaveNothingBehind() async throws {
    let synthetic = try await SyntheticRoom.start()
    let room = Room()
    try await room.connect(url: synthetic.url, token: try await SyntheticRoom.token("watcher"))
    let camera = try await eventually("the camera") {
      room.remoteParticipants["alice"]?.videoTracks.first { $0.isSubscribed }
    }
    for _ in 0..<20 { try await attach(to: camera) }
    for _ in 0..<20 { try await resubscribe(to: camera) }
    let before = try await quiet()
    for _ in 0..<1000 { try await attach(to: camera) }
    for _ in 0..<200 { try await resubscribe(to: camera) }
    let after = try await quiet()
    print("1000 renderers, 200 subscriptions: before \(before); after \(after)")
    // Pools of threads breathe; what is left by each of 1200 would be hundreds.
    #expect(after.threads <= before.threads + 2)
    #expect(after.descriptors <= before.descriptors)
    // Dispatch keeps the jobs it is done with, and the testing library a backtrace of every error that was thrown, such
    // as by each cancelled sleep: together less than a kilobyte each time.
    #expect(after.heap < before.heap + 2 << 20, "before \(before); after \(after)")
    await room.disconnect()
    await synthetic.stop()
  }

  /// Two renderers come and go; the decoder with the first and the last.
  private func attach(to camera: RemoteTrackPublication) async throws {
    let track = try #require(camera.track as? RemoteVideoTrack)
    let renderers = (0..<2).map { _ in VideoFrameHandler { _ in } }
    for renderer in renderers { track.add(videoRenderer: renderer) }
    for renderer in renderers { track.remove(videoRenderer: renderer) }
  }

  private func resubscribe(to camera: RemoteTrackPublication) async throws {
    try await camera.set(subscribed: false)
    try await eventually("the end of the subscription") { !camera.isSubscribed }
    try await camera.set(subscribed: true)
    try await eventually("the subscription") { camera.isSubscribed }
  }

  @Test func hundredsOfPicturesLeaveNothingBehind() async throws {
    let buffer = try #require(QuadrantPicture(width: 321, height: 183).i420(quarterTurns: 1))
    let frame = VideoFrame(buffer: buffer, time: .now)
    func convert() throws {
      for format in [VideoFrame.PixelFormat.rgba, .nv12, .gray8] { _ = try frame.converted(to: format) }
      _ = (try frame.pngData(), try frame.jpegData())
    }
    for _ in 0..<20 { try convert() }
    let before = Footprint.current
    for _ in 0..<300 { try convert() }
    let after = Footprint.current
    print("three hundred pictures: before \(before); after \(after)")
    #expect(after.descriptors <= before.descriptors && after.threads <= before.threads + 2)
    // 1700 bytes a round, whose pictures have a megabyte.
    #expect(after.heap < before.heap + 1 << 19, "before \(before); after \(after)")
  }

  private func record(_ index: Int, from synthetic: SyntheticRoom, into folder: URL) async throws {
    let room = Room()
    try await room.connect(url: synthetic.url, token: try await SyntheticRoom.token("recorder"))
    let (who, kind) = index.isMultiple(of: 2) ? ("alice", "mkv") : ("bob", "mp4")
    let file = folder.appendingPathComponent("\(index).\(kind)").path
    let recorder = Recorder(
      room: room, options: RecordingOptions(file: file, participant: who, wait: .seconds(20)))
    try await recorder.start()
    try await eventually("half a second of media") { await recorder.progress().duration > .milliseconds(500) }
    let progress = try await recorder.finish()
    #expect(progress.bytes > 5000 && progress.video?.buffers ?? 0 > 5)
    await room.disconnect()
    try FileManager.default.removeItem(atPath: file)
  }

  /// The footprint once the idle threads of pools have ended.
  private func quiet() async throws -> Footprint {
    let least = Locked(Footprint.current)
    let deadline = ContinuousClock.now + .seconds(20)
    try await eventually("the end of idle threads", within: .seconds(30)) {
      let now = Footprint.current
      least.withLock { if now.threads < $0.threads { $0 = now } }
      return ContinuousClock.now > deadline
    }
    return least.withLock { $0 }
  }
}
