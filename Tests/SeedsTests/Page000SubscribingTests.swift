import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

// "Subscribing" of the LiveKit Swift SDK's documents. What the page calls `videoView` is a renderer of ours here.

private final class CountingRenderer: VideoRenderer, Sendable {
  let frames = Locked(0)
  func render(frame: VideoFrame) { frames.withLock { $0 += 1 } }
}

/// "Auto-Subscribe (Default)"
private class MyRoomDelegate: RoomDelegate {
  let videoView = CountingRenderer()

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard let track = publication.track else { return }

    if let videoTrack = track as? VideoTrack {
      // Render video track
      videoTrack.add(videoRenderer: videoView)
    } else if track is AudioTrack {
      // Audio plays automatically
      print("Subscribed to audio track: \(publication.name)")
    }
  }
}

/// "Manual Subscribe"
private class ManualDelegate: RoomDelegate {
  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    // Decide whether to subscribe
    if publication.source == .camera {
      // Subscribe to camera tracks
      Task {
        try await publication.set(subscribed: true)
      }
    } else if publication.source == .screenShareVideo {
      // Subscribe to screen shares
      Task {
        try await publication.set(subscribed: true)
      }
    }
    // Ignore other track types
  }
}

/// "Subscription Events"
private class MyDelegate: RoomDelegate, ParticipantDelegate {
  let videoView = CountingRenderer()

  // Track published (not yet subscribed)
  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    print("\(participant.identity!) published \(publication.source) track")
  }

  // Successfully subscribed
  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    print("Subscribed to \(publication.name)")

    if let videoTrack = publication.track as? VideoTrack {
      videoTrack.add(videoRenderer: videoView)
    }
  }

  // Unsubscribed from track
  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    print("Unsubscribed from \(publication.name)")
  }

  // Track unpublished
  func room(_ room: Room, participant: Participant, didUnpublishTrack publication: TrackPublication) {
    print("\(participant.identity ?? "unknown") unpublished track")
  }

  // Subscription failed
  func room(
    _ room: Room, participant: RemoteParticipant, didFailToSubscribeTrackWithSid trackSid: String, error: Error
  ) {
    print("Failed to subscribe to track \(trackSid): \(error)")
  }
}

/// "Stream State", "Subscription Permissions" and "Track Mute State"
private class StateDelegate: RoomDelegate {
  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) {
    if streamState == .paused {
      showLoadingIndicator()
    } else {
      hideLoadingIndicator()
    }
  }

  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateIsSubscriptionAllowed isAllowed: Bool
  ) {
    if isAllowed {
      print("Now allowed to subscribe")
      Task {
        try await trackPublication.set(subscribed: true)
      }
    } else {
      print("Subscription permission revoked")
    }
  }

  func room(
    _ room: Room, participant: Participant, trackPublication: TrackPublication, didUpdateIsMuted isMuted: Bool
  ) {
    if isMuted {
      showMutedIndicator()
    } else {
      hideMutedIndicator()
    }
  }

  private func showLoadingIndicator() { print("loading") }
  private func hideLoadingIndicator() { print("not loading") }
  private func showMutedIndicator() { print("muted") }
  private func hideMutedIndicator() { print("not muted") }
}

/// "Custom Video Renderer"
///
/// `@unchecked Sendable`: its size is set and read on the main actor alone, and nothing else changes.
private class MyVideoRenderer: NSObject, VideoRenderer, @unchecked Sendable {
  var isAdaptiveStreamEnabled: Bool = true
  var adaptiveStreamSize: CGSize = .zero

  func set(size: CGSize) {
    adaptiveStreamSize = size
  }

  func renderFrame(_ frame: VideoFrame?) {
    guard let frame = frame else { return }
    // Process and render the frame
    processVideoFrame(frame)
  }

  private func processVideoFrame(_ frame: VideoFrame) { print("frame of \(frame.dimensions)") }
}

extension SeedsTests {
  @Suite struct Page000 {
    @Test func autoSubscribe() async throws {
      let delegate = MyRoomDelegate()
      let videoView = delegate.videoView
      try await inRoom(delegate: delegate) { _, _ in
        try await eventually("frames and audio") {
          videoView.frames.withLock { $0 } > 3 && Printed.lines == ["Subscribed to audio track: microphone"]
        }
      }
    }

    @Test func manualSubscribeAndSubscriptionState() async throws {
      let roomOptions = RoomOptions(
        autoSubscribe: false  // Disable automatic subscription
      )
      let delegate = ManualDelegate()
      try await inRoom(roomOptions, delegate: delegate) { room, _ in
        let camera = try await publication(.video, in: room)
        let microphone = try await publication(.audio, in: room)
        try await eventually("the camera") { camera.isSubscribed }
        #expect(state(of: camera) == "Subscribed" && state(of: microphone) == "Not subscribed")
        #expect(camera.isSubscriptionAllowed)
        try await camera.set(subscribed: false)
        try await eventually("the end") { !camera.isSubscribed }
        #expect(state(of: camera) == "Not subscribed" && !microphone.isSubscribed)
      }
    }

    private func state(of publication: RemoteTrackPublication) -> String {
      switch publication.subscriptionState {
      case .subscribed:
        return "Subscribed"
      case .notAllowed:
        return "Subscription not allowed by publisher"
      case .unsubscribed:
        return "Not subscribed"
      }
    }

    @Test func subscriptionEvents() async throws {
      let delegate = MyDelegate()
      try await inRoom(delegate: delegate) { room, _ in
        try await eventually("both tracks") { Printed.lines.count { $0.hasPrefix("Subscribed") } == 2 }
        let camera = try await publication(.video, in: room)
        #expect(
          Printed.lines.filter { $0.contains("camera") } == ["alice published camera track", "Subscribed to camera"])
        try await camera.set(subscribed: false)
        try await eventually("the end of the camera's") { Printed.lines.last == "Unsubscribed from camera" }
      }
      try await eventually("the end") { Printed.lines.count { $0 == "alice unpublished track" } == 2 }
    }

    @Test func trackSettings() async throws {
      let delegate = MyRoomDelegate()
      try await inRoom(RoomOptions(adaptiveStream: false), delegate: delegate) { room, _ in
        let publication = try await publication(.video, in: room)
        try await eventually("the subscription") { publication.isSubscribed }
        // Disable (stops receiving data)
        try await publication.set(enabled: false)
        #expect(!publication.isEnabled)
        // Enable (resumes receiving data)
        try await publication.set(enabled: true)
        #expect(publication.isEnabled)
        for quality in [VideoQuality.high, .medium, .low] {
          try await publication.set(videoQuality: quality)
          #expect(publication.videoQuality == quality)
        }
        let dimensions = Dimensions(width: 1280, height: 720)
        try await publication.set(preferredDimensions: dimensions)
        #expect(publication.preferredDimensions == dimensions)
        try await publication.set(preferredFPS: 15)
        #expect(publication.preferredFPS == 15)
      }
    }

    @Test func trackSettingsNeedAdaptiveStreamOffAndASubscription() async throws {
      try await inRoom(delegate: MyRoomDelegate()) { room, _ in
        let publication = try await publication(.video, in: room)
        try await eventually("the subscription") { publication.isSubscribed }
        await #expect(throws: LiveKitError.self) { try await publication.set(preferredFPS: 15) }
      }
      try await inRoom(RoomOptions(autoSubscribe: false, adaptiveStream: false), delegate: MyRoomDelegate()) {
        room, _ in
        let publication = try await publication(.video, in: room)
        await #expect(throws: LiveKitError.self) { try await publication.set(preferredFPS: 15) }
      }
    }

    @Test func streamStateAndMute() async throws {
      let delegate = StateDelegate()
      try await inRoom(RoomOptions(adaptiveStream: false), delegate: delegate) { room, watcher in
        let camera = try await publication(.video, in: room)
        try await eventually("the subscription") { camera.isSubscribed }
        #expect(camera.streamState == .unknown)
        for state in [Livekit_StreamState.paused, .active] {
          watcher.tell { response in
            var info = Livekit_StreamStateInfo()
            (info.trackSid, info.state) = (camera.sid, state)
            response.streamStateUpdate.streamStates = [info]
          }
        }
        for isMuted in [true, false] {
          watcher.tell { ($0.mute.sid, $0.mute.muted) = (camera.sid, isMuted) }
        }
        let expected = ["loading", "not loading", "muted", "loading", "not muted", "not loading"]
        try await eventually("all of it") { Printed.lines == expected }
        #expect(camera.streamState == .active && !camera.isMuted)
      }
    }

    @Test func subscriptionPermissions() async throws {
      let delegate = StateDelegate()
      // Nobody shows the video, which adaptive stream would pause.
      try await inRoom(RoomOptions(adaptiveStream: false), delegate: delegate) { room, watcher in
        let camera = try await publication(.video, in: room)
        try await eventually("the subscription") { camera.isSubscribed }
        // Of both tracks.
        try await watcher.synthetic.allow(false)
        try await eventually("word of it") { Printed.lines.count == 2 }
        #expect(Printed.lines == ["Subscription permission revoked", "Subscription permission revoked"])
        #expect(state(of: camera) == "Subscription not allowed by publisher" && !camera.isSubscriptionAllowed)
        try await watcher.synthetic.allow(true)
        try await eventually("word of it") {
          Printed.lines.suffix(2) == ["Now allowed to subscribe", "Now allowed to subscribe"]
        }
        try await eventually("the subscription") { state(of: camera) == "Subscribed" }
      }
    }

    @Test func customVideoRenderer() async throws {
      let renderer = MyVideoRenderer()
      try await inRoom(delegate: MyRoomDelegate()) { room, _ in
        let camera = try await publication(.video, in: room)
        let videoTrack = try await eventually("the track") { camera.track as? VideoTrack }
        videoTrack.add(videoRenderer: renderer)
        try await eventually("frames") { Printed.lines.count { $0 == "frame of 640x360" } > 3 }
        try await eventually("the size") {
          await MainActor.run { renderer.adaptiveStreamSize } == CGSize(width: 640, height: 360)
        }
        videoTrack.remove(videoRenderer: renderer)
      }
    }
  }
}
