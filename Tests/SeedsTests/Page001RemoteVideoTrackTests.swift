import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaBridgeDesktop
import MediaCore
import Testing

// "RemoteVideoTrack" of the LiveKit Swift SDK's documents, with UIKit.swift in the place of UIKit. The variant of
// `render` with a capture device is Apple's and left out.

/// "Receiving Remote Video"
private class MyClass {
  let container = UIView()

  func addVideoView(_ videoView: VideoView, for participant: RemoteParticipant) {
    container.addSubview(videoView)
    print("a view of \(participant.identity!)")
  }
}

extension MyClass: RoomDelegate {
  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didSubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    if let videoTrack = track as? RemoteVideoTrack {
      // Video track subscribed and ready
      let videoView = VideoView()
      videoTrack.add(videoRenderer: videoView)

      // Add view to your UI
      addVideoView(videoView, for: participant)
    }
  }
}

/// The examples of "add(videoRenderer:)" and "remove(videoRenderer:)"
private class Screen: UIViewController {
  func show(_ videoTrack: RemoteVideoTrack) -> VideoView {
    let videoView = VideoView(frame: CGRect(x: 0, y: 0, width: 400, height: 300))
    videoTrack.add(videoRenderer: videoView)

    // Add to your view hierarchy
    self.view.addSubview(videoView)
    return videoView
  }

  func hide(_ videoTrack: RemoteVideoTrack, _ videoView: VideoView) {
    videoTrack.remove(videoRenderer: videoView)
    videoView.removeFromSuperview()
  }
}

/// "Using VideoView"
private class LayoutDelegate: RoomDelegate {
  let participantView = UIView()

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didSubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    guard let videoTrack = track as? RemoteVideoTrack else { return }

    let videoView = VideoView()
    videoView.layoutMode = .fill  // or .fit
    videoView.isDebugMode = false

    videoTrack.add(videoRenderer: videoView)

    // Add to your view hierarchy
    participantView.addSubview(videoView)

    // Set up constraints or frame
    videoView.translatesAutoresizingMaskIntoConstraints = false
    NSLayoutConstraint.activate([
      videoView.topAnchor.constraint(equalTo: participantView.topAnchor),
      videoView.leadingAnchor.constraint(equalTo: participantView.leadingAnchor),
      videoView.trailingAnchor.constraint(equalTo: participantView.trailingAnchor),
      videoView.bottomAnchor.constraint(equalTo: participantView.bottomAnchor),
    ])
  }
}

/// "Custom Video Renderer"
private class CustomVideoRenderer: VideoRenderer {
  // Required for adaptive stream
  @MainActor var isAdaptiveStreamEnabled: Bool { true }
  @MainActor var adaptiveStreamSize: CGSize {
    CGSize(width: 640, height: 480)
  }

  func set(size: CGSize) {
    print("Video size: \(size)")
  }

  func render(frame: VideoFrame) {
    // Access frame data
    let dimensions = frame.dimensions
    let rotation = frame.rotation
    print("\(dimensions), turned by \(rotation.rawValue)")

    // Convert to image, save, process, etc.
    if let image = frame.toUIImage() {
      processFrame(image)
    }
  }

  private func processFrame(_ image: UIImage) {
    // Custom processing
    print("image \(image.pngData.prefix(4).map { $0 })")
  }
}

/// "Track Association"
private class ParticipantVideoManager: RoomDelegate {
  var videoViews: [String: VideoView] = [:]  // participantSid -> VideoView
  var videoTracks: [String: RemoteVideoTrack] = [:]

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didSubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    guard let videoTrack = track as? RemoteVideoTrack else { return }

    // Create and configure view
    let videoView = createVideoView(for: participant)

    // Attach track to view
    videoTrack.add(videoRenderer: videoView)

    // Store references
    videoViews[participant.sid] = videoView
    videoTracks[participant.sid] = videoTrack
  }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didUnsubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    guard track is RemoteVideoTrack else { return }

    // Clean up
    if let videoView = videoViews[participant.sid],
      let videoTrack = videoTracks[participant.sid]
    {
      videoTrack.remove(videoRenderer: videoView)
      videoView.removeFromSuperview()
    }

    videoViews.removeValue(forKey: participant.sid)
    videoTracks.removeValue(forKey: participant.sid)
  }

  private func createVideoView(for participant: RemoteParticipant) -> VideoView {
    let view = VideoView()
    view.layoutMode = .fill
    // Add to UI...
    container.addSubview(view)
    return view
  }

  let container = UIView()
}

/// What the example has to say of itself, told on the room's queue after it.
private final class ToldVideoManager: ParticipantVideoManager {
  override func room(
    _ room: Room, participant: RemoteParticipant, didSubscribe track: RemoteTrack, publication: RemoteTrackPublication
  ) {
    super.room(room, participant: participant, didSubscribe: track, publication: publication)
    print("\(videoViews.count) views, \(videoTracks.count) tracks")
  }

  override func room(
    _ room: Room, participant: RemoteParticipant, didUnsubscribe track: RemoteTrack, publication: RemoteTrackPublication
  ) {
    super.room(room, participant: participant, didUnsubscribe: track, publication: publication)
    print("\(videoViews.count) views, \(videoTracks.count) tracks")
  }
}

/// "Adaptive Streaming"
private class AdaptiveVideoView: UIView, VideoRenderer {
  @MainActor var isAdaptiveStreamEnabled: Bool {
    // Only request high quality when visible
    return !isHidden && window != nil
  }

  @MainActor var adaptiveStreamSize: CGSize {
    // Return actual view size for quality calculation
    return bounds.size
  }

  func render(frame: VideoFrame) {
    // Render frame
    print("frame of \(frame.dimensions)")
  }
}

/// "Video Statistics"
private class StatisticsDelegate: RoomDelegate {
  func room(
    _ room: Room,
    track: RemoteVideoTrack,
    didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) {
    // An array, as the page on tracks has it.
    if let inbound = statistics.inboundRtp?.first {
      print("Received: \(inbound.bytesReceived ?? 0) bytes")
      print("FPS: \(inbound.framesPerSecond ?? 0)")
      print("Resolution: \(inbound.frameWidth ?? 0)x\(inbound.frameHeight ?? 0)")
      print("Bitrate: \(inbound.bps) bps")
    }
  }
}

/// "Example Usage"
private class RemoteVideoViewController: UIViewController, RoomDelegate {
  var room: Room!
  var videoViews: [String: VideoView] = [:]
  var videoTracks: [String: RemoteVideoTrack] = [:]

  override func viewDidLoad() {
    super.viewDidLoad()
    room.add(delegate: self)
  }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didSubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    guard let videoTrack = track as? RemoteVideoTrack else { return }

    // Create video view
    let videoView = VideoView()
    videoView.layoutMode = .fill

    // Add to participant's container
    if let container = participantContainer(for: participant) {
      container.addSubview(videoView)
      videoView.frame = container.bounds
      videoView.autoresizingMask = [.flexibleWidth, .flexibleHeight]
    }

    // Attach track
    videoTrack.add(videoRenderer: videoView)

    // Store references
    videoViews[participant.sid] = videoView
    videoTracks[participant.sid] = videoTrack

    // Enable statistics
    Task {
      await videoTrack.set(reportStatistics: true)
    }
  }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    didUnsubscribe track: RemoteTrack,
    publication: RemoteTrackPublication
  ) {
    guard track is RemoteVideoTrack,
      let videoView = videoViews[participant.sid],
      let videoTrack = videoTracks[participant.sid]
    else { return }

    // Clean up
    videoTrack.remove(videoRenderer: videoView)
    videoView.removeFromSuperview()

    videoViews.removeValue(forKey: participant.sid)
    videoTracks.removeValue(forKey: participant.sid)
  }

  func room(
    _ room: Room,
    participant: RemoteParticipant,
    publication: RemoteTrackPublication,
    didUpdateIsMuted isMuted: Bool
  ) {
    if publication.kind == .video {
      // Handle mute state UI update
      updateMuteIndicator(for: participant, isMuted: isMuted)
    }
  }

  private func participantContainer(for participant: RemoteParticipant) -> UIView? {
    // Return container view for this participant
    return container  // Implement based on your UI
  }

  private func updateMuteIndicator(for participant: RemoteParticipant, isMuted: Bool) {
    // Update UI to show mute state
    print("\(participant.identity!) is \(isMuted ? "muted" : "not muted")")
  }

  let container = UIView(frame: CGRect(x: 20, y: 30, width: 320, height: 180))
}

extension SeedsTests {
  @Suite struct Page001 {
    @Test func receivingRemoteVideo() async throws {
      try await onDesktop { desktop in
        let delegate = MyClass()
        let container = delegate.container.state
        try await inRoom(delegate: delegate) { _, _ in
          try await desktop.shows(try await desktop.window(), "frames")
          #expect(Printed.lines == ["a view of alice"] && container.subviews.count == 1)
        }
      }
    }

    @Test func aViewIsAddedAndRemovedWhileAnotherStays() async throws {
      try await onDesktop { desktop in
        try await inRoom { _, watcher in
          let (camera, (videoTrack, _)) = (try await watcher.camera(), try await watcher.tracks())
          let screen = Screen()
          let thumbnail = VideoView(frame: CGRect(x: 0, y: 0, width: 160, height: 90))
          videoTrack.add(videoRenderer: thumbnail)
          let videoView = screen.show(videoTrack)
          #expect(videoView.state.superview === screen.view.state)
          let sizes = Set([Dimensions(width: 400, height: 300), Dimensions(width: 160, height: 90)])
          try await eventually("both windows") { Set(try desktop.windows().map(\.size)) == sizes }
          try await desktop.shows(try await desktop.window(of: Dimensions(width: 400, height: 300)), "frames")
          try await watcher.told(of: camera, "the larger size") { $0.width == 400 && $0.height == 300 }
          screen.hide(videoTrack, videoView)
          #expect(screen.view.state.subviews.isEmpty && videoView.state.superview == nil)
          try await watcher.told(of: camera, "the smaller size") { !$0.disabled && $0.width == 160 }
          #expect(videoTrack.videoFrame != nil)
          videoTrack.remove(videoRenderer: thumbnail)
          try await watcher.told(of: camera, "the pause") { $0.disabled }
          #expect(videoTrack.videoFrame == nil)
        }
      }
    }

    @Test func usingVideoView() async throws {
      try await onDesktop { desktop in
        let delegate = LayoutDelegate()
        let participantView = delegate.participantView.state
        try await inRoom(delegate: delegate) { _, _ in
          let view = try await eventually("a view that fills its place") {
            participantView.subviews.first { $0.isPinned(to: participantView) }
          }
          #expect(!view.translatesAutoresizingMask && participantView.subviews.count == 1)
          try await desktop.shows(try await desktop.window(), "frames")
        }
      }
    }

    @Test func customVideoRenderer() async throws {
      try await inRoom { _, watcher in
        let camera = try await watcher.camera()
        let videoTrack = try await watcher.tracks().0
        let customRenderer = CustomVideoRenderer()
        videoTrack.add(videoRenderer: customRenderer)
        try await watcher.told(of: camera, "its size") { $0.width == 640 && $0.height == 480 }
        try await eventually("frames") { Printed.lines.count { $0 == "640x360, turned by 0" } > 3 }
        try await eventually("images") { Printed.lines.contains("image [137, 80, 78, 71]") }
        try await eventually("their size") { Printed.lines.contains { $0.hasPrefix("Video size: ") } }
        #expect(Printed.lines.filter { $0.hasPrefix("Video") } == ["Video size: \(CGSize(width: 640, height: 360))"])
      }
    }

    @Test func trackAssociation() async throws {
      try await onDesktop { desktop in
        let manager = ToldVideoManager()
        let container = manager.container.state
        try await inRoom(codecs: ["alice": "vp8", "bob": "h264"], delegate: manager) { _, watcher in
          try await eventually("two views") { Printed.lines.contains("2 views, 2 tracks") }
          try await eventually("two windows") { try desktop.windows().count == 2 }
          #expect(container.subviews.count == 2)
          let bob = try await watcher.camera(of: "bob")
          try await bob.set(subscribed: false)
          try await eventually("one view") { Printed.lines.last == "1 views, 1 tracks" }
          #expect(container.subviews.count == 1)
          try await eventually("one window") { try desktop.windows().count == 1 }
          try await bob.set(subscribed: true)
          try await eventually("two windows again") { try desktop.windows().count == 2 }
          #expect(Printed.lines.last == "2 views, 2 tracks")
        }
        try await eventually("no view") { Printed.lines.last == "0 views, 0 tracks" }
        #expect(container.subviews.isEmpty)
      }
    }

    @Test func adaptiveStreaming() async throws {
      try await inRoom { _, watcher in
        let camera = try await watcher.camera()
        let videoTrack = try await watcher.tracks().0
        let (window, view) = (UIWindow(), AdaptiveVideoView(frame: CGRect(x: 0, y: 0, width: 320, height: 180)))
        videoTrack.add(videoRenderer: view)
        window.addSubview(view)
        try await watcher.told(of: camera, "the view's size") { $0.width == 320 && $0.height == 180 }
        try await eventually("frames") { Printed.lines.count { $0 == "frame of 640x360" } > 3 }
        view.frame = CGRect(x: 0, y: 0, width: 160, height: 90)
        try await watcher.told(of: camera, "its new size") { $0.width == 160 && $0.height == 90 }
        view.isHidden = true
        try await watcher.told(of: camera, "the pause") { $0.disabled }
        view.isHidden = false
        try await watcher.told(of: camera, "the size again") { !$0.disabled && $0.width == 160 }
        view.removeFromSuperview()
        try await watcher.told(of: camera, "the pause") { $0.disabled }
      }
    }

    @Test func videoStatistics() async throws {
      let delegate = StatisticsDelegate()
      try await inRoom(RoomOptions(reportRemoteTrackStatistics: true), delegate: delegate) { _, watcher in
        let renderer = VideoFrameHandler { _ in }
        try await watcher.tracks().0.add(videoRenderer: renderer)
        try await eventually("the statistics") { Printed.lines.contains("Resolution: 640x360") }
        let newest = Printed.lines.suffix(4)
        #expect(newest.map { $0.prefix { $0 != ":" } } == ["Received", "FPS", "Resolution", "Bitrate"])
        #expect(!newest.contains("Received: 0 bytes") && !newest.contains("Bitrate: 0 bps"))
      }
    }

    @Test func aViewController() async throws {
      try await onDesktop { desktop in
        let controller = RemoteVideoViewController()
        let container = controller.container.state
        try await inRoom(RoomOptions(autoSubscribe: false)) { room, watcher in
          controller.room = room
          _ = controller.view
          let camera = try await publication(.video, in: room)
          try await camera.set(subscribed: true)
          let view = try await eventually("the view") { container.subviews.first }
          try await desktop.shows(try await desktop.window(), "frames")
          #expect(view.frame == CGRect(x: 0, y: 0, width: 320, height: 180))
          #expect(view.autoresizingMask == [.flexibleWidth, .flexibleHeight])
          try await eventually("statistics") { camera.track?.statistics?.inboundRtp?.first?.bytesReceived ?? 0 > 0 }
          for isMuted in [true, false] { watcher.tell { ($0.mute.sid, $0.mute.muted) = (camera.sid, isMuted) } }
          try await eventually("both changes") { Printed.lines == ["alice is muted", "alice is not muted"] }
          try await camera.set(subscribed: false)
          try await eventually("no view") { container.subviews.isEmpty }
          try await eventually("no window") { try desktop.windows().isEmpty }
        }
      }
    }
  }
}
