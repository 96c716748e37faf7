public import Foundation
import GStreamerKit
public import MediaBridge
import MediaCore

/// A place in a `TileWindow` that shows the frames of one track: add it to the track as a renderer. It is black while
/// the track is muted, and once that is unsubscribed. All members may be used from any thread.
public final class VideoTile: VideoRenderer, SizelessRenderer, MutedRenderer, Sendable {
  private struct State {
    var size: Dimensions?
    var isVisible = true
  }

  /// What is written over the frames.
  public let name: String
  private let branch: MixerBranch
  private let fitting: FrameFitting
  private let frames: WindowFrames
  private let layoutMode: VideoView.LayoutMode
  private let state = Locked(State())

  init(name: String, branch: MixerBranch, layoutMode: VideoView.LayoutMode) throws(PipelineError) {
    self.name = name
    self.branch = branch
    self.layoutMode = layoutMode
    frames = WindowFrames(into: try branch.appSource(named: "video"))
    fitting = FrameFitting(overlayName: "label") { try? branch.element(named: $0) }
    fitting.write(name.isEmpty ? nil : name)
  }

  public nonisolated var isAdaptiveStreamEnabled: Bool { true }
  /// Whether it is in a window that is open.
  public nonisolated var isVisible: Bool { state.withLock { $0.isVisible } }
  /// The tile's size in pixels.
  public nonisolated var adaptiveStreamSize: CGSize {
    state.withLock { $0.size }.map { CGSize(width: Int($0.width), height: Int($0.height)) } ?? .zero
  }

  public func render(frame: VideoFrame) {
    // The mixer goes by the moment at which a frame is to be seen, which is now, however long it travelled.
    frames.show(frame, at: .now)
  }

  package func setMuted(_ isMuted: Bool) { frames.setMuted(isMuted) }

  // MARK: For the window

  func start() { branch.start() }

  func put(at place: TileLayout.Place) {
    state.withLock { $0.size = place.size }
    fitting.fit(into: place.size, layoutMode)
    for (property, value) in [
      ("xpos", place.x), ("ypos", place.y), ("width", Int(place.size.width)), ("height", Int(place.size.height)),
    ] {
      // A mixer without places is the template's own business.
      try? branch.setInput(property, to: String(value))
    }
  }

  func disappear() { state.withLock { $0.isVisible = false } }

  func remove() {
    disappear()
    branch.remove()
  }
}
