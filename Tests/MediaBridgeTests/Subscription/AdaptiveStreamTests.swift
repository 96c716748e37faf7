import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// Hides as renderers of the SDK do.
private final class SDKRenderer: VideoRenderer, Sendable {
  @MainActor var isAdaptiveStreamEnabled = true
  @MainActor var adaptiveStreamSize: CGSize { CGSize(width: 320, height: 180) }
}

/// What the server is told when renderers come, change and go.
@Suite struct AdaptiveStreamTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let publication: RemoteTrackPublication
    let track: RemoteVideoTrack

    func next(_ what: String, _ matches: @escaping @Sendable (Livekit_UpdateTrackSettings) -> Bool) async throws {
      try await eventually(what) {
        watcher.told.values.last { $0.trackSids.contains(publication.sid) }.map(matches) ?? false
      }
    }
  }

  private func run(_ body: (Scene) async throws -> Void) async throws {
    // Audio that is played is heard.
    try await Watcher.run(RoomOptions(audioPlayback: .off)) { watcher in
      let camera = try await watcher.camera()
      let track = try #require(camera.track as? RemoteVideoTrack)
      try await body(Scene(watcher: watcher, publication: camera, track: track))
    }
  }

  @Test func aTrackThatNobodyShowsIsPausedAndComesBackWithARenderer() async throws {
    try await run { scene in
      try await scene.next("the pause") { $0.disabled }
      #expect(!scene.publication.isEnabled)
      let screen = await Screen(320, 180)
      scene.track.add(videoRenderer: screen)
      try await scene.next("its size") { !$0.disabled && $0.width == 320 && $0.height == 180 }
      try await eventually("frames") { screen.frames.withLock { $0.count } > 3 }
      try await eventually("the size of the frames") { await screen.sizes == [CGSize(width: 640, height: 360)] }
      scene.track.remove(videoRenderer: screen)
      try await scene.next("the pause") { $0.disabled }
    }
  }

  @Test func theLargestVisibleRendererDecides() async throws {
    try await run { scene in
      let (small, large) = (await Screen(160, 90), await Screen(1280, 720))
      scene.track.add(videoRenderer: small)
      scene.track.add(videoRenderer: large)
      try await scene.next("the larger size") { $0.width == 1280 }
      await MainActor.run { large.isVisible = false }
      large.adaptiveStreamDidChange()
      try await scene.next("the smaller size") { $0.width == 160 && !$0.disabled }
      await MainActor.run { small.adaptiveStreamSize = CGSize(width: 320, height: 180) }
      try await scene.next("a size that was not announced") { $0.width == 320 }
      await MainActor.run { small.isVisible = false }
      try await scene.next("the pause") { $0.disabled }
      await MainActor.run { (large.isVisible, large.isAdaptiveStreamEnabled) = (true, false) }
      large.adaptiveStreamDidChange()
      try await scene.next("everything") { !$0.disabled && $0.width == 0 && $0.quality == .high }
    }
  }

  @Test func theFastestRendererDecides() async throws {
    try await run { scene in
      let (slow, fast) = (await Screen(320, 180), await Screen(160, 90))
      await MainActor.run { (slow.adaptiveStreamFPS, fast.adaptiveStreamFPS) = (5, 12) }
      scene.track.add(videoRenderer: slow)
      try await scene.next("its rate") { $0.width == 320 && $0.fps == 5 }
      scene.track.add(videoRenderer: fast)
      try await scene.next("the higher rate") { $0.width == 320 && $0.fps == 12 }
      await MainActor.run { slow.adaptiveStreamFPS = 0 }
      slow.adaptiveStreamDidChange()
      // More than there are: 0 lifts no limit.
      try await scene.next("all frames") { $0.width == 320 && $0.fps == 1000 }
      await MainActor.run { slow.isVisible = false }
      slow.adaptiveStreamDidChange()
      try await scene.next("the rate of who is left") { $0.width == 160 && $0.fps == 12 }
    }
  }

  @Test func aRendererAsTheSDKHasItHidesByTakingNoPart() async throws {
    try await run { scene in
      let renderer = SDKRenderer()
      scene.track.add(videoRenderer: renderer)
      try await scene.next("its size") { !$0.disabled && $0.width == 320 }
      for isEnabled in [false, true] {
        await MainActor.run { renderer.isAdaptiveStreamEnabled = isEnabled }
        renderer.adaptiveStreamDidChange()
        try await scene.next("what is shown: \(isEnabled)") { $0.disabled != isEnabled }
      }
    }
  }

  @Test func aRendererOfUnknownSizeGetsTheSmallestLayerAndAClosureEverything() async throws {
    try await run { scene in
      let screen = await Screen(0, 0)
      scene.track.add(videoRenderer: screen)
      try await scene.next("the smallest layer") { !$0.disabled && $0.width == 0 && $0.quality == .low }
      let frames = Locked(0)
      let closure = VideoFrameHandler { _ in frames.withLock { $0 += 1 } }
      scene.track.add(videoRenderer: closure)
      try await scene.next("everything") { $0.quality == .high }
      try await eventually("frames for both") {
        screen.frames.withLock { $0.count } > 3 && frames.withLock { $0 } > 3
      }
    }
  }

  @Test func audioThatNobodyHearsIsPaused() async throws {
    try await run { scene in
      let microphone = try await scene.watcher.microphone()
      @Sendable func told() -> [Bool] {
        scene.watcher.told.values.filter { $0.trackSids.contains(microphone.sid) }.map(\.disabled)
      }
      try await eventually("the pause") { told() == [true] }
      let samples = Locked(0)
      let listener = AudioBufferHandler { buffer in samples.withLock { $0 += Int(buffer.frameLength) } }
      let track = try await eventually("the track") { microphone.track as? RemoteAudioTrack }
      track.add(audioRenderer: listener)
      try await eventually("the end of the pause") { told() == [true, false] }
      let before = samples.withLock { $0 }
      try await eventually("audio") { samples.withLock { $0 } > before + 48_000 }
      track.remove(audioRenderer: listener)
      try await eventually("the pause again") { told() == [true, false, true] }
    }
  }

  @Test func aTrackThatIsStoppedRestsUntilItIsStarted() async throws {
    try await run { scene in
      let screen = await Screen(320, 180)
      scene.track.add(videoRenderer: screen)
      try await eventually("frames") { screen.frames.withLock { $0.count } > 3 }
      try await scene.track.stop()
      #expect(scene.track.trackState == .stopped)
      try await scene.next("the pause") { $0.disabled }
      #expect(scene.track.videoFrame == nil)
      let before = screen.frames.withLock { $0.count }
      try await scene.track.start()
      try await eventually("frames again") { screen.frames.withLock { $0.count } > before + 3 }
      #expect(scene.track.trackState == .started && scene.track.videoFrame != nil)
      try await scene.publication.set(subscribed: false)
      try await eventually("the end") { scene.publication.track == nil }
      let error = await #expect(throws: LiveKitError.self) { try await scene.track.start() }
      #expect(error?.code == .invalidState)
    }
  }

  @Test func framesComeInOrderWhenOneDecoderFollowsAnother() async throws {
    try await run { scene in
      var last: Int64 = 0
      for round in 0..<15 {
        let times = Locked<[Int64]>([])
        let renderer = VideoFrameHandler { frame in times.withLock { $0.append(frame.timeStampNs) } }
        scene.track.add(videoRenderer: renderer)
        try await eventually("frames") { times.withLock { $0.count } > 4 }
        scene.track.remove(videoRenderer: renderer)
        let shown = times.withLock { $0 }
        // A timeline that is still settling may put two in one place.
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 }, "round \(round): \(shown)")
        #expect(try #require(shown.first) >= last, "round \(round): \(shown) behind \(last)")
        last = shown.last ?? last
      }
    }
  }

  @Test func settingsCannotBeSetByHand() async throws {
    try await run { scene in
      let error = await #expect(throws: LiveKitError.self) { try await scene.publication.set(videoQuality: .low) }
      #expect(error?.code == .invalidState && error?.message.contains("adaptiveStream: false") == true)
    }
  }
}
