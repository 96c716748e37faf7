public import Foundation
public import MediaBridge
import MediaCore
import MediaPipelines

/// A place in a `TileWindow` that shows the frames of one track: add it to the track as a renderer. It is black while
/// the track is muted, and once that is unsubscribed. All members may be used from any thread.
public final class VideoTile: VideoRenderer, SizelessRenderer, FailingRenderer, MutedRenderer, Sendable {
  private struct State {
    var size: Dimensions?
    var isVisible = true
    var onFailure: (@Sendable (LiveKitError) -> Void)?
  }

  /// What is written over the frames.
  public let name: String
  private let tile: MixTile
  private let layoutMode: VideoView.LayoutMode
  private let state = Locked(State())

  init(name: String, in tile: MixTile, layoutMode: VideoView.LayoutMode) {
    (self.name, self.tile, self.layoutMode) = (name, tile, layoutMode)
    tile.write(name.isEmpty ? nil : name)
  }

  public nonisolated var isAdaptiveStreamEnabled: Bool { true }
  /// Whether it is in a window that is open, and nothing has gone wrong in it.
  public nonisolated var isVisible: Bool { state.withLock { $0.isVisible } }
  /// The tile's size in pixels.
  public nonisolated var adaptiveStreamSize: CGSize { CGSize(state.withLock { $0.size }) }

  public func render(frame: VideoFrame) {
    // The mixer goes by the moment at which a frame is to be seen, which is now, however long it travelled.
    tile.frames.show(frame.buffer, at: .now)
  }

  package func onFailure(_ tell: (@Sendable (LiveKitError) -> Void)?) { state.withLock { $0.onFailure = tell } }
  package func setMuted(_ isMuted: Bool) { tile.frames.setMuted(isMuted) }

  // MARK: For the window

  func start() { tile.start() }

  func put(at place: TileLayout.Place) {
    state.withLock { $0.size = place.size }
    let size = PixelSize(place.size)
    tile.put(
      at: TilePlace(x: place.x, y: place.y, width: size.width, height: size.height, fit: TilePlace.Fit(layoutMode)))
  }

  /// Its place stays black from now on.
  func fail(_ error: LiveKitError) {
    remove()
    adaptiveStreamDidChange()
    state.withLock { $0.onFailure }?(error)
  }

  func disappear() { state.withLock { $0.isVisible = false } }

  func remove() {
    disappear()
    tile.remove()
  }
}
