import BridgeTesting
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// What the server is told of a track, and what comes of it.
@Suite struct TrackSettingsTests {
  private func run(
    _ body: (Room, RemoteTrackPublication, Collector<Livekit_UpdateTrackSettings>) async throws -> Void
  ) async throws {
    try await Watcher.run(RoomOptions(adaptiveStream: false)) { watcher in
      try await body(watcher.room, try await watcher.camera(), watcher.told)
    }
  }

  @Test func changesOfOneMomentAreOneMessage() async throws {
    try await run { _, publication, told in
      async let quality: Void = publication.set(videoQuality: .low)
      async let rate: Void = publication.set(preferredFPS: 10)
      async let off: Void = publication.set(enabled: false)
      _ = try await (quality, rate, off)
      #expect(!publication.isEnabled && publication.videoQuality == .low && publication.preferredFPS == 10)
      try await eventually("the message") { told.count > 0 }
      try await publication.set(enabled: true)
      try await eventually("the second message") { told.count > 1 }
      #expect(told.values.map(\.disabled) == [true, false])
      #expect(told.values.allSatisfy { $0.quality == .low && $0.fps == 10 && $0.trackSids == [publication.sid] })
    }
  }

  @Test func aSizeAndAQualityReplaceEachOther() async throws {
    try await run { _, publication, told in
      #expect(publication.videoQuality == .high && publication.preferredDimensions == nil)
      try await publication.set(preferredDimensions: Dimensions(width: 320, height: 180))
      #expect(publication.preferredDimensions == Dimensions(width: 320, height: 180))
      try await publication.set(videoQuality: .medium)
      #expect(publication.preferredDimensions == nil)
      try await eventually("both messages") { told.count == 2 }
      #expect(told.values.map { [$0.width, $0.height] } == [[320, 180], [0, 0]])
      #expect(told.values[1].quality == .medium)
      await #expect(throws: LiveKitError.self) {
        try await publication.set(preferredDimensions: Dimensions(width: 0, height: 180))
      }
    }
  }

  @Test func whatIsTakenBackAtOnceIsNotTold() async throws {
    try await run { _, publication, told in
      async let low: Void = publication.set(videoQuality: .low)
      async let high: Void = publication.set(videoQuality: .high)
      _ = try await (low, high)
      // They may have come in either order; the last one is what the server knows.
      let last = publication.videoQuality
      try await publication.set(preferredFPS: 7)
      try await eventually("the rate") { told.values.last?.fps == 7 }
      #expect(told.values.map(\.quality) == (last == .low ? [.low, .low] : [.high]))
    }
  }

  @Test func aDisabledTrackPausesAndComesBack() async throws {
    try await run { room, publication, _ in
      let track = try #require(publication.track as? RemoteVideoTrack)
      let frames = Locked(0)
      let renderer = VideoFrameHandler { _ in frames.withLock { $0 += 1 } }
      track.add(videoRenderer: renderer)
      try await eventually("frames") { frames.withLock { $0 } > 5 }
      try await publication.set(enabled: false)
      // The audio goes on: when a second of it has come without a frame, the frames have stopped.
      let paused = try await eventually("the pause") { () -> Int? in
        let before = frames.withLock { $0 }
        try await Self.wait(forPackets: 50, of: room)
        return frames.withLock { $0 } == before ? before : nil
      }
      try await publication.set(enabled: true)
      try await eventually("frames again") { frames.withLock { $0 } > paused + 5 }
      track.remove(videoRenderer: renderer)
    }
  }

  private static func wait(forPackets count: Int, of room: Room) async throws {
    let microphone = try #require(room.remoteParticipants["alice"]?.audioTracks.first)
    let before = await microphone.reception()?.packetsReceived ?? 0
    try await eventually("audio") { await microphone.reception()?.packetsReceived ?? 0 > before + count }
  }

  @Test func settingsAreRestoredWithTheSubscription() async throws {
    try await run { _, publication, told in
      try await publication.set(videoQuality: .low)
      try await publication.set(subscribed: false)
      try await eventually("the end of the subscription") { !publication.isSubscribed }
      let error = await #expect(throws: LiveKitError.self) { try await publication.set(enabled: false) }
      #expect(error?.code == .invalidState)
      try await publication.set(subscribed: true)
      try await eventually("the setting") { told.values.map(\.quality) == [.low, .low] }
      // Said once it is sent, and the server may be quicker.
      try await eventually("word of it") { publication.isEnabled && publication.videoQuality == .low }
    }
  }

  @Test func withoutAConnectionTheOldSettingStays() async throws {
    try await run { room, publication, told in
      await room.disconnect()
      let error = await #expect(throws: LiveKitError.self) { try await publication.set(videoQuality: .low) }
      #expect(error?.code == .invalidState && publication.videoQuality == .high && told.count == 0)
    }
  }
}
