import BridgeTesting
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Why frames stop is told once when it begins and once when it ends, also where the room is joined anew in between.
@Suite struct ReasonsAcrossSessionsTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let camera: RemoteTrackPublication
    let events: Collector<RoomEvent>

    /// Why frames stopped (-) and went on (+), so far.
    var reasons: [String] { events.values.compactMap(\.videoChange) }
    /// Of the camera, so far.
    var streamStates: [StreamState] {
      events.values.compactMap { event in
        if case .streamStateChanged(_, let publication, let state) = event, publication === camera {
          state
        } else {
          nil
        }
      }
    }

    func told(_ reasons: [String]) async throws {
      try await eventually("\(reasons)") { self.reasons == reasons }
    }

    /// Lets the server end the session, and waits until the camera is that of the next one.
    func joinAnew() async throws {
      let before = returns
      watcher.tell { $0.leave.action = .reconnect }
      try await eventually("the next session") { returns > before && !camera.isInterrupted }
    }

    private var returns: Int { events.values.count { if case .reconnected(.full) = $0 { true } else { false } } }

    func frames() async throws {
      let track = try #require(camera.track as? RemoteVideoTrack)
      let frames = Locked(0)
      let screen = VideoFrameHandler { _ in frames.withLock { $0 += 1 } }
      track.add(videoRenderer: screen)
      try await eventually("frames") { frames.withLock { $0 } > 5 }
      track.remove(videoRenderer: screen)
    }
  }

  private func run(adaptiveStream: Bool = false, _ body: (Scene) async throws -> Void) async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(adaptiveStream: adaptiveStream), events: events) { watcher in
      try await body(Scene(watcher: watcher, camera: try await watcher.camera(), events: events))
    }
  }

  @Test func whatTheServerPausedGoesOn() async throws {
    try await run { scene in
      scene.watcher.tell { response in
        var info = Livekit_StreamStateInfo()
        (info.trackSid, info.state) = (scene.camera.sid, .paused)
        response.streamStateUpdate.streamStates = [info]
      }
      try await scene.told(["-qualityChanged"])
      try await scene.joinAnew()
      try await scene.told(["-qualityChanged", "+qualityChanged"])
      #expect(scene.streamStates == [.paused, .active] && scene.camera.streamState == .active)
      try await scene.frames()
      #expect(scene.reasons == ["-qualityChanged", "+qualityChanged"])
    }
  }

  @Test func whatWasGivenUpForTheAudioGoesOn() async throws {
    try await run { scene in
      try await scene.camera.restrict(to: .noVideo, in: scene.watcher.room)
      try await scene.told(["-qualityChanged"])
      try await scene.joinAnew()
      try await scene.told(["-qualityChanged", "+qualityChanged"])
      #expect(scene.camera.isEnabled)
      try await scene.frames()
    }
  }

  @Test func whatTheProgramDisabledStaysSo() async throws {
    try await run { scene in
      try await scene.camera.set(enabled: false)
      try await scene.told(["-subscriberPropertyChanged"])
      let before = scene.watcher.told.count
      try await scene.joinAnew()
      #expect(!scene.camera.isEnabled)
      try await eventually("the server to know") { scene.watcher.told.values.dropFirst(before).last?.disabled == true }
      try await scene.camera.set(enabled: true)
      try await scene.told(["-subscriberPropertyChanged", "+subscriberPropertyChanged"])
      #expect(scene.camera.isEnabled)
      try await scene.frames()
    }
  }

  @Test func whatNobodyShowsStaysPaused() async throws {
    try await run(adaptiveStream: true) { scene in
      try await scene.told(["-subscriberPropertyChanged"])
      @Sendable func toldOfCamera() -> [Livekit_UpdateTrackSettings] {
        scene.watcher.told.values.filter { $0.trackSids.contains(scene.camera.sid) }
      }
      let before = toldOfCamera().count
      try await scene.joinAnew()
      try await eventually("the server to know") { toldOfCamera().dropFirst(before).last?.disabled == true }
      #expect(scene.reasons == ["-subscriberPropertyChanged"])
      let track = try #require(scene.camera.track as? RemoteVideoTrack)
      let screen = VideoFrameHandler { _ in }
      track.add(videoRenderer: screen)
      try await scene.told(["-subscriberPropertyChanged", "+subscriberPropertyChanged"])
    }
  }

  @Test func whatItsPublisherMutedStaysSo() async throws {
    try await run { scene in
      let alice = try #require(scene.watcher.synthetic.publishers["alice"]?.localParticipant)
      let camera = try #require(alice.localVideoTracks.first)
      try await camera.mute()
      try await scene.told(["-publisherPropertyChanged"])
      try await scene.joinAnew()
      #expect(scene.camera.isMuted)
      try await camera.unmute()
      try await scene.told(["-publisherPropertyChanged", "+publisherPropertyChanged"])
      #expect(!scene.camera.isMuted)
    }
  }

  /// The session's reason ends, and the program's stays: the frames do not go on.
  @Test func oneReasonMayStayWhereAnotherEnds() async throws {
    try await run { scene in
      try await scene.camera.set(enabled: false)
      try await scene.told(["-subscriberPropertyChanged"])
      try await scene.camera.restrict(to: .noVideo, in: scene.watcher.room)
      try await scene.camera.isOff(for: [.subscriberPropertyChanged, .qualityChanged])
      try await scene.joinAnew()
      try await scene.camera.isOff(for: [.subscriberPropertyChanged])
      try await scene.camera.set(enabled: true)
      try await scene.told(["-subscriberPropertyChanged", "+subscriberPropertyChanged"])
    }
  }
}
