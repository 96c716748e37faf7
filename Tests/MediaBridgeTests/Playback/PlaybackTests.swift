import BridgeTesting
import Foundation
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// What a room plays of what it receives: two participants with different tones, into a file.
@Suite(.serialized) struct PlaybackTests {
  private static let tones = ["alice": 400, "bob": 1000]

  private struct Scene: Sendable {
    let room: Room
    let played: PlayedAudio
    let alice: RemoteTrackPublication
    let bob: RemoteTrackPublication

    var tracks: (alice: RemoteAudioTrack, bob: RemoteAudioTrack)? {
      guard let alice = alice.track as? RemoteAudioTrack, let bob = bob.track as? RemoteAudioTrack else { return nil }
      return (alice, bob)
    }
  }

  private func run(_ body: (Scene) async throws -> Void) async throws {
    let played = try PlayedAudio()
    try await Watcher.run(played.options, codecs: ["alice": "vp8", "bob": "vp8"], frequencies: Self.tones) { watcher in
      let scene = Scene(
        room: watcher.room, played: played, alice: try await watcher.microphone(of: "alice"),
        bob: try await watcher.microphone(of: "bob"))
      // Nearly all of the newest quarter of a second, since what follows is compared with it.
      try await played.becomes("both tones") { played.newest(400) > 0.28 && played.newest(1000) > 0.28 }
      try await body(scene)
      await watcher.room.disconnect()
      #expect(!isOpen(played.file))
    }
  }

  @Test func eachTrackHasAVolumeOfItsOwnAndRenderersHearItAsItWasSent() async throws {
    try await run { scene in
      let tracks = try #require(scene.tracks)
      let played = scene.played
      let heard = Locked<[Int16]>([])
      let listener = AudioBufferHandler { buffer in
        buffer.buffer.withInt16Samples { samples in
          heard.withLock { heard in
            for index in stride(from: 0, to: samples.count, by: 2) { heard.append(samples[index]) }
            heard.removeFirst(max(0, heard.count - 12_000))
          }
        }
      }
      tracks.alice.add(audioRenderer: listener)
      #expect(tracks.alice.volume == 1)
      let (alice, bob) = (played.newest(400), played.newest(1000))
      tracks.alice.volume = 0.5
      try await played.becomes("half of one tone") { abs(played.newest(400) / alice - 0.5) < 0.05 }
      #expect(abs(played.newest(1000) / bob - 1) < 0.1)
      let before = played.count
      tracks.alice.volume = 0
      try await played.becomes("silence of one tone") { played.newest(400) < 0.005 }
      #expect(abs(played.newest(1000) / bob - 1) < 0.1)
      #expect(
        abs(amplitude(of: 400, in: heard.withLock { $0 }[...]) / alice - 1) < 0.1, "a renderer hears what was sent")
      let changed =
        played.blocks(of: 400, from: before).firstIndex { $0 < 0.05 } ?? .max
      #expect(changed <= 10, "a volume takes effect at once, not after \(changed * 10) ms")
      let silent = played.count
      tracks.alice.volume = 1
      try await played.becomes("both tones again") { abs(played.newest(400) / alice - 1) < 0.1 }
      let back =
        played.blocks(of: 400, from: silent).firstIndex { $0 > 0.1 } ?? .max
      #expect(back <= 10, "a track that is turned up is heard at once, not after \(back * 10) ms")
    }
  }

  @Test func aTrackThatPausesOrGoesHoldsUpNoOther() async throws {
    try await run { scene in
      let played = scene.played
      let start = played.count
      try await scene.alice.set(enabled: false)
      try await played.becomes("only one tone") { played.newest(400) < 0.005 && played.newest(1000) > 0.25 }
      try await Task.sleep(for: .milliseconds(500))
      try await scene.alice.set(enabled: true)
      try await played.becomes("both tones again") { played.newest(400) > 0.25 }
      try await scene.alice.set(subscribed: false)
      try await played.becomes("only one tone") { played.newest(400) < 0.005 && played.newest(1000) > 0.25 }
      try await scene.alice.set(subscribed: true)
      try await played.becomes("both tones again") { played.newest(400) > 0.25 }
      let blocks = played.blocks(of: 1000, from: start)
      #expect(blocks.count > 150)
      #expect(blocks.allSatisfy { $0 > 0.2 }, "the other track has holes: \(blocks.filter { $0 <= 0.2 })")
    }
  }

  @Test func theLastTrackTakesThePipelineAlongAndANewOneBringsItBack() async throws {
    try await run { scene in
      #expect(isOpen(scene.played.file))
      for microphone in [scene.alice, scene.bob] { try await microphone.set(subscribed: false) }
      try await eventually("the end of the pipeline") { !isOpen(scene.played.file) }
      try await scene.bob.set(subscribed: true)
      let track = try await eventually("the track") { scene.bob.track as? RemoteAudioTrack }
      track.volume = 0.5
      try await scene.played.becomes("the tone at the volume that was set before") {
        abs(scene.played.newest(1000) - 0.15) < 0.015
      }
      #expect(scene.played.blocks(of: 1000).allSatisfy { $0 < 0.35 })
    }
  }

  @Test func inputsThatComeAndGoLeaveNothingBehind() async throws {
    try await run { scene in
      func cycle() async throws {
        let track = try #require(scene.bob.track)
        try await scene.bob.set(subscribed: false)
        try await eventually("the end of the subscription") { !scene.bob.isSubscribed }
        try await scene.bob.set(subscribed: true)
        try await eventually("the tone") { scene.bob.track != nil && scene.bob.track !== track }
        try await eventually("its input") { (scene.bob.track as? RemoteAudioTrack)?.isPlayed ?? false }
      }
      for _ in 0..<3 { try await cycle() }
      let before = Footprint.current
      for _ in 0..<12 { try await cycle() }
      let after = Footprint.current
      // Pools of threads breathe; what is left by each would be a dozen.
      #expect(after.threads <= before.threads + 4, "before \(before); after \(after)")
      #expect(after.descriptors <= before.descriptors + 4, "before \(before); after \(after)")
    }
  }

  @Test func adaptiveStreamReceivesWhatIsPlayed() async throws {
    let played = try PlayedAudio()
    var options = played.options
    options.adaptiveStream = true
    try await Watcher.run(options, frequencies: ["alice": 400]) { watcher in
      // Longer than a track that nobody hears is left alone.
      try await played.becomes("a second of the tone") { played.count > 72_000 && played.newest(400) > 0.25 }
      #expect(try await watcher.microphone().isEnabled)
    }
  }

  @Test func withoutADeviceOnlyASinkThatIsNamedPlays() async throws {
    try await Watcher.run(RoomOptions(adaptiveStream: false, audioPlayback: .off)) { watcher in
      let (_, track) = try await watcher.tracks()
      let played = try PlayedAudio()
      let none = AudioDevice(environment: [:], root: played.folder.path)
      for (factory, isPlayed) in [(PipelineFactory(folder: nil), false), (played.factory, true)] {
        let player = Player(
          factory: factory, device: none, onFailure: { Issue.record("a failure: \($0)") },
          tell: { error, _ in Issue.record("a failure: \(error)") })
        await player.play([track], [])
        #expect(track.isPlayed == isPlayed)
        await player.stop()
        #expect(!track.isPlayed && !isOpen(played.file))
      }
    }
  }

  /// A sound server that begins later, or comes back.
  @Test func aDeviceThatComesLaterPlays() async throws {
    try await Watcher.run(RoomOptions(adaptiveStream: false, audioPlayback: .off)) { watcher in
      let (_, track) = try await watcher.tracks()
      let played = try PlayedAudio(sink: "fakesink name=${sink:-none} sync=true")
      let player = Player(
        factory: played.factory, device: AudioDevice(environment: [:], root: played.folder.path), onFailure: { _ in },
        tell: { error, _ in Issue.record("a failure: \(error)") })
      let now = MediaTime.now
      let pause = try #require(await player.play([track], [], at: now))
      #expect(!track.isPlayed)
      let devices = "\(played.folder.path)/dev/snd"
      try FileManager.default.createDirectory(atPath: devices, withIntermediateDirectories: true)
      #expect(FileManager.default.createFile(atPath: "\(devices)/pcmC0D0p", contents: nil))
      #expect(await player.play([track], [], at: now + pause) == nil)
      #expect(track.isPlayed)
      await player.stop()
    }
  }

  /// Off, without a device that can be used, or with one that does not answer: the room is joined all the same.
  @Test(arguments: ["off", "unusable", "silent"]) func aRoomWithoutAudioWorks(_ way: String) async throws {
    let server = try way == "silent" ? SilentServer() : nil
    let sink = server.map { "pulsesink server=\"unix:\($0.path)\"" }
    let played = try sink.map { try PlayedAudio(sink: $0) } ?? PlayedAudio()
    let synthetic = try await SyntheticRoom.start()
    var options = played.options
    if way == "off" { options.audioPlayback = .off }
    if way == "unusable" { options.playbackValues["location"] = "\(played.folder.path)/no such folder/played.raw" }
    let room = Room(roomOptions: options)
    let start = ContinuousClock.now
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("listener"))
    let track = try await eventually("the track", within: .seconds(5)) {
      room.remoteParticipants["alice"]?.audioTracks.first?.track as? RemoteAudioTrack
    }
    let samples = Locked(0)
    let listener = AudioBufferHandler { buffer in samples.withLock { $0 += Int(buffer.frameLength) } }
    track.add(audioRenderer: listener)
    try await eventually("audio for renderers") { samples.withLock { $0 } > 9_600 }
    #expect(ContinuousClock.now - start < .seconds(3))
    if way == "silent" { try await eventually("a try") { server?.wasAsked ?? false } }
    let leaving = ContinuousClock.now
    await room.disconnect()
    #expect(ContinuousClock.now - leaving < .seconds(7))
    #expect(!FileManager.default.fileExists(atPath: played.file))
    await synthetic.stop()
  }
}

/// A sound server that takes connections and says nothing.
private final class SilentServer: Sendable {
  let path = "/tmp/mediabridge-\(UInt64.random(in: 0...(.max)))"
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard result == 0, listen(descriptor, 8) == 0 else { throw TimedOut(description: "no socket at \(path)") }
  }

  /// Whether somebody has connected.
  var wasAsked: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) == 1
  }

  deinit {
    close(descriptor)
    unlink(path)
  }
}
