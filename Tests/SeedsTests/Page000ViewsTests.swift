import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaBridgeDesktop
import MediaCore
import Testing

// "Subscribing" of the LiveKit Swift SDK's documents: what it shows in views.

/// "Custom Adaptive Stream Behavior"
private class CustomVideoRenderer: VideoRenderer {
  var isAdaptiveStreamEnabled: Bool = true

  var adaptiveStreamSize: CGSize {
    // Return current view size
    return myView.bounds.size
  }

  // ... implement other VideoRenderer methods
  let myView = UIView(frame: CGRect(x: 0, y: 0, width: 320, height: 180))
}

/// "Example: Complete Subscriber"
private class ParticipantViewController: UIViewController, RoomDelegate, ParticipantDelegate {
  let videoView = VideoView()
  var currentVideoTrack: VideoTrack?

  override func viewDidLoad() {
    super.viewDidLoad()
    view.addSubview(videoView)
  }

  func room(_ room: Room, participantDidJoin participant: RemoteParticipant) {
    participant.delegates.add(delegate: self)
  }

  func room(_ room: Room, participant: RemoteParticipant, didPublishTrack publication: RemoteTrackPublication) {
    print("Published: \(publication.name)")
  }

  func room(_ room: Room, participant: RemoteParticipant, didSubscribeTrack publication: RemoteTrackPublication) {
    guard let track = publication.track else { return }

    if let videoTrack = track as? VideoTrack {
      currentVideoTrack = videoTrack
      videoTrack.add(videoRenderer: videoView)
    } else if track is AudioTrack {
      print("Audio track subscribed")
    }
  }

  func room(_ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication) {
    if let videoTrack = publication.track as? VideoTrack {
      videoTrack.remove(videoRenderer: videoView)
      currentVideoTrack = nil
    }
  }

  func room(
    _ room: Room, participant: RemoteParticipant, trackPublication: RemoteTrackPublication,
    didUpdateStreamState streamState: StreamState
  ) {
    videoView.alpha = streamState == .active ? 1.0 : 0.5
  }
}

/// What the example has to say of itself, told on the room's queue after it.
private final class ToldParticipantViewController: ParticipantViewController {
  override func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribeTrack publication: RemoteTrackPublication
  ) {
    super.room(room, participant: participant, didUnsubscribeTrack: publication)
    if publication.kind == .video { print(currentVideoTrack == nil ? "no current track" : "a current track") }
  }
}

extension SeedsTests {
  @Suite struct Page000Views {
    @Test func customAdaptiveStreamBehavior() async throws {
      try await inRoom { _, watcher in
        let camera = try await watcher.camera()
        let renderer = CustomVideoRenderer()
        if let videoTrack = camera.track as? VideoTrack {
          videoTrack.add(videoRenderer: renderer)
        }
        try await watcher.told(of: camera, "the view's size") { !$0.disabled && $0.width == 320 && $0.height == 180 }
        renderer.myView.frame = CGRect(x: 0, y: 0, width: 640, height: 360)
        try await watcher.told(of: camera, "its new size") { $0.width == 640 && $0.height == 360 }
      }
    }

    @Test func aViewTakesPartInAdaptiveStreamUnlessItIsToldNotTo() async throws {
      try await onDesktop { desktop in
        try await inRoom { _, watcher in
          let publication = try await watcher.camera()
          let videoView = VideoView()
          videoView.isAdaptiveStreamEnabled = true  // Enabled by default
          videoView.layoutMode = .fill  // or .fit

          if let videoTrack = publication.track as? VideoTrack {
            videoTrack.add(videoRenderer: videoView)
          }
          let window = try await desktop.window()
          let (width, height) = (UInt32(window.size.width), UInt32(window.size.height))
          try await watcher.told(of: publication, "the window's size") { $0.width == width && $0.height == height }
          // Disable per-view
          videoView.isAdaptiveStreamEnabled = false
          try await watcher.told(of: publication, "everything") { !$0.disabled && $0.width == 0 && $0.quality == .high }
          // Remove when done
          let videoTrack = try #require(publication.track as? VideoTrack)
          videoTrack.remove(videoRenderer: videoView)
          try await watcher.told(of: publication, "the pause") { $0.disabled }
        }
      }
    }

    @Test func completeSubscriber() async throws {
      try await onDesktop { desktop in
        let controller = ToldParticipantViewController()
        let (videoView, view) = (controller.videoView, controller.view.state)
        #expect(view.subviews.map { $0 === videoView.state } == [true])
        try await inRoom(delegate: controller) { _, watcher in
          let camera = try await watcher.camera()
          let window: Desktop.Window
          do { window = try await desktop.window() } catch {
            Issue.record("the view: \(String(describing: videoView.failure)); told: \(watcher.told.values)")
            throw error
          }
          try await desktop.shows(window, "frames")
          try await watcher.told(of: camera, "the window's size") { $0.width == UInt32(window.size.width) }
          let expected = ["Audio track subscribed", "Published: camera", "Published: microphone"]
          try await eventually("all of it") { Printed.lines.sorted() == expected }
          for (state, alpha) in [(Livekit_StreamState.paused, 0.5), (.active, 1)] {
            watcher.tell { response in
              var info = Livekit_StreamStateInfo()
              (info.trackSid, info.state) = (camera.sid, state)
              response.streamStateUpdate.streamStates = [info]
            }
            try await eventually("\(state)") { videoView.alpha == alpha && Self.text(camera) == Self.text(state) }
          }
          try await camera.set(subscribed: false)
          try await eventually("the end") { !camera.isSubscribed }
        }
        try await eventually("the track to be let go of") { Printed.lines.contains("no current track") }
      }
    }

    private static func text(_ publication: RemoteTrackPublication) -> String {
      switch publication.streamState {
      case .active:
        return "Track is streaming"
      case .paused:
        return "Track is paused (disabled or not sending)"
      case .unknown:
        return "Stream state unknown"
      }
    }

    private static func text(_ state: Livekit_StreamState) -> String {
      state == .active ? "Track is streaming" : "Track is paused (disabled or not sending)"
    }
  }
}
