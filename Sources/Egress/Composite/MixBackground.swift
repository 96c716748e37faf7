import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines

/// A tile under all others, once the background is not black. The mixer repeats its one frame.
final class MixBackground: Sendable {
  private struct State {
    var shown = CompositeScenery.Background.color(0)
    /// Nil while it has never been another one than black.
    var tile: MixTile?
    /// What the tile shows.
    var frame: VideoFrameBuffer?
    var isStarted = false
  }
  private let state = Locked(State())
  private let part: RoomMix.Part
  private let size: PixelSize

  /// - Parameter part: of video.
  init(_ part: RoomMix.Part, _ size: PixelSize) { (self.part, self.size) = (part, size) }

  /// To be called by one at a time.
  /// - Throws: it cannot be read or shown; what was seen before stays.
  func show(_ background: CompositeScenery.Background) throws(LiveKitError) {
    let (shown, tile, isStarted) = state.withLock { ($0.shown, $0.tile, $0.isStarted) }
    guard background != shown, let frame = try background.frame(size) else { return }
    let made = if let tile { tile } else { try makeTile() }
    state.withLock { ($0.shown, $0.tile, $0.frame) = (background, made, frame) }
    guard isStarted else { return }
    if tile == nil { made.start() }
    made.frames.show(frame, at: .now)
  }

  private func makeTile() throws(LiveKitError) -> MixTile {
    let tile = try LiveKitError.wrapping { () throws(PipelineFailure) in try part.pipeline.addTile(part.tile) }
    if let rounding = part.rounding { tile.watchFrames { rounding.show(backdrop: $0) } }
    tile.put(
      at: TilePlace(x: 0, y: 0, width: size.width, height: size.height, fit: .cover), level: RoomMix.backgroundLevel)
    return tile
  }

  /// Call it once the mixer runs.
  func start() {
    let (tile, frame) = state.withLock { state in
      state.isStarted = true
      return (state.tile, state.frame)
    }
    tile?.start()
    if let frame { tile?.frames.show(frame, at: .now) }
  }

  /// No thread of it is left when this returns.
  func remove() {
    let tile = state.withLock { state in
      defer { state.tile = nil }
      return state.tile
    }
    tile?.remove()
  }
}
