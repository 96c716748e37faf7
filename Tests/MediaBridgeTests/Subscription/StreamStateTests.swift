import BridgeTesting
import LiveKitProtocol
import Testing

@testable import MediaBridge

/// What a track's stream state says, where the SDK's page on subscribing goes beyond what a server tells.
@Suite struct StreamStateTests {
  private final class Media {}

  /// A camera that is subscribed to.
  private func camera(_ media: Media) -> Subscription {
    let info = TrackInfo(
      sid: "TR_1", name: "camera", kind: .video, source: .camera, mimeType: "video/VP8", mimeTypes: [], isMuted: false,
      dimensions: nil, simulcasted: false, layers: [])
    var subscription = Subscription(info, of: "alice", isWanted: true)
    subscription.media = .live(Subscription.Stream(media: ObjectIdentifier(media)))
    return subscription
  }

  @Test func whateverStopsItPausesIt() {
    let media = Media()
    let stops: [(inout Subscription) -> Void] = [
      { $0.info.isMuted = true }, { $0.settings.told = TrackSettings(isEnabled: false) },
      { $0.serverState = .paused }, { _ = $0.set(isLost: true) },
      { $0.settings.told = TrackSettings(restriction: .noVideo) },
    ]
    for stop in stops {
      var subscription = camera(media)
      #expect(subscription.currentStreamState == .unknown)
      stop(&subscription)
      #expect(subscription.currentStreamState == .paused)
      // The server may say what it likes of the way to here.
      if subscription.serverState == .unknown { subscription.serverState = .active }
      #expect(subscription.currentStreamState == .paused)
    }
  }

  @Test func whatGoesOnIsActive() {
    let media = Media()
    var subscription = camera(media)
    subscription.streamState = .paused
    #expect(subscription.currentStreamState == .active)
    subscription.serverState = .active
    #expect(subscription.currentStreamState == .active)
    subscription.streamState = .unknown
    #expect(subscription.currentStreamState == .active)
  }

  @Test func itIsToldAsItChanges() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(adaptiveStream: false, audioPlayback: .off), events: events) { watcher in
      let camera = try await watcher.camera()
      #expect(camera.streamState == .unknown)
      @Sendable func told() -> [StreamState] {
        events.values.compactMap { event in
          if case .streamStateChanged(_, let publication, let state) = event, publication === camera {
            state
          } else {
            nil
          }
        }
      }
      try await camera.set(enabled: false)
      try await eventually("the pause") { told() == [.paused] && camera.streamState == .paused }
      watcher.tell { ($0.mute.sid, $0.mute.muted) = (camera.sid, true) }
      try await eventually("the mute") { camera.isMuted }
      try await camera.set(enabled: true)
      #expect(camera.streamState == .paused && told() == [.paused])
      watcher.tell { ($0.mute.sid, $0.mute.muted) = (camera.sid, false) }
      try await eventually("the end of it") { told() == [.paused, .active] && camera.streamState == .active }
      try await camera.set(subscribed: false)
      try await eventually("nothing") { camera.track == nil && camera.streamState == .unknown }
    }
  }

  /// The server says it once, perhaps while the connection is lost.
  @Test func aPauseEndsWithTheMediaThatComes() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(adaptiveStream: false, audioPlayback: .off), events: events) { watcher in
      let camera = try await watcher.camera()
      watcher.tell { response in
        var state = Livekit_StreamStateInfo()
        (state.trackSid, state.state) = (camera.sid, .paused)
        response.streamStateUpdate.streamStates = [state]
      }
      try await eventually("the pause") { camera.streamState == .paused }
      // What cannot be begun with ends none.
      try await Task.sleep(for: .milliseconds(1500))
      #expect(camera.streamState == .paused)
      // For whom the server asks for a keyframe, as at the end of a pause.
      let other = Room()
      try await other.connect(url: watcher.synthetic.url, token: try SyntheticRoom.token("other"))
      try await eventually("the end of it") { camera.streamState == .active && camera.isEnabled }
      await other.disconnect()
    }
  }
}
