import BridgeTesting
import LiveKitProtocol
import Testing

@testable import MediaBridge

/// What audio fallback takes away, beside what the program and adaptive stream want.
@Suite struct VideoRestrictionTests {
  private func run(
    adaptiveStream: Bool, _ body: (Watcher, RemoteTrackPublication, Collector<RoomEvent>) async throws -> Void
  ) async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(adaptiveStream: adaptiveStream), events: events) { watcher in
      try await body(watcher, try await watcher.camera(), events)
    }
  }

  private func reasons(_ events: Collector<RoomEvent>) -> [String] { events.values.compactMap(\.videoChange) }

  @Test func itIsToldAsQualityAndThePublicationSaysWhatTheServerDoes() async throws {
    try await run(adaptiveStream: false) { watcher, camera, events in
      try await camera.restrict(to: .noVideo, in: watcher.room)
      try await eventually("the pause") { watcher.told.values.last?.disabled == true }
      try await eventually("word of it") { self.reasons(events) == ["-qualityChanged"] }
      #expect(!camera.isEnabled)
      // Audio is never restricted.
      #expect(watcher.told.values.allSatisfy { $0.trackSids == [camera.sid] })
      try await camera.restrict(to: .none, in: watcher.room)
      try await eventually("word of it") { self.reasons(events) == ["-qualityChanged", "+qualityChanged"] }
      #expect(camera.isEnabled)
      try await eventually("the server to know") { watcher.told.values.map(\.disabled) == [true, false] }
    }
  }

  @Test func theProgramsSettingsAreKeptUnderIt() async throws {
    try await run(adaptiveStream: false) { watcher, camera, events in
      try await camera.restrict(to: .noVideo, in: watcher.room)
      try await eventually("the pause") { watcher.told.count == 1 }
      try await camera.set(videoQuality: .medium)
      try await camera.set(enabled: true)
      #expect(!camera.isEnabled && watcher.told.values.allSatisfy(\.disabled))
      try await camera.set(enabled: false)
      try await camera.restrict(to: .none, in: watcher.room)
      try await camera.isOff(for: [.subscriberPropertyChanged])
      #expect(camera.subscription.settings.told == TrackSettings(isEnabled: false, quality: .medium))
      // The program wants none: there is nothing to bring back.
      #expect(!camera.isEnabled && watcher.told.values.allSatisfy(\.disabled))
      try await camera.set(enabled: true)
      try await eventually("the frames") { watcher.told.values.last?.disabled == false }
      #expect(watcher.told.values.last?.quality == .medium)
      try await eventually("the reasons") {
        self.reasons(events) == ["-qualityChanged", "+subscriberPropertyChanged"]
      }
    }
  }

  @Test func adaptiveStreamGoesOnUnderIt() async throws {
    try await run(adaptiveStream: true) { watcher, camera, events in
      let track = try #require(camera.track as? RemoteVideoTrack)
      let renderer = VideoFrameHandler { _ in }
      track.add(videoRenderer: renderer)
      try await eventually("everything") {
        watcher.told.values.last { $0.trackSids == [camera.sid] }.map { !$0.disabled && $0.quality == .high } == true
      }
      try await camera.restrict(to: .noVideo, in: watcher.room)
      try await eventually("the pause") { !camera.isEnabled }
      try await eventually("word of it") { self.reasons(events).last == "-qualityChanged" }
      track.remove(videoRenderer: renderer)
      try await eventually("word of nobody") {
        camera.subscription.wantedSettings(camera.track?.demand)?.isEnabled == false
      }
      try await camera.restrict(to: .none, in: watcher.room)
      track.add(videoRenderer: renderer)
      try await eventually("the frames") { camera.isEnabled && track.videoFrame != nil }
    }
  }

  @Test func theLowestLayerIsAskedForInsteadOfASizeOrAQuality() {
    var settings = TrackSettings(dimensions: Dimensions(width: 1280, height: 720), fps: 10)
    settings.restriction = .lowestLayer
    let told = Livekit_UpdateTrackSettings(settings, trackSids: ["TR_1"])
    #expect(told.width == 0 && told.height == 0 && told.quality == .low && told.fps == 10 && !told.disabled)
    let layers = [(VideoQuality.low, 320, 180), (.high, 1280, 720)].map {
      VideoLayer(quality: $0.0, dimensions: Dimensions(width: $0.1, height: $0.2), bitrate: 0)
    }
    #expect(TrackSettings().exceedsLowest(of: layers))
    #expect(!TrackSettings(quality: .low).exceedsLowest(of: layers))
    #expect(!TrackSettings(dimensions: Dimensions(width: 160, height: 90)).exceedsLowest(of: layers))
    #expect(TrackSettings(dimensions: Dimensions(width: 640, height: 360)).exceedsLowest(of: layers))
    #expect(!TrackSettings(isEnabled: false).exceedsLowest(of: layers))
    #expect(!TrackSettings().exceedsLowest(of: Array(layers.suffix(1))))
  }
}
