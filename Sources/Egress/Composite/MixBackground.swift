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
    /// What has gone wrong in the tile, which is still to be taken out for it.
    var error: LiveKitError?
    /// Why another one than black is not seen.
    var failure: LiveKitError?
    var failures = FailedInputs()
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
    state.withLock { ($0.shown, $0.tile, $0.frame, $0.failure) = (background, made, frame, nil) }
    guard isStarted else { return }
    if tile == nil { made.start() }
    made.frames.show(frame, at: .now)
  }

  private func makeTile() throws(LiveKitError) -> MixTile {
    let tile = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try part.pipeline.addTile(part.tile) { [weak self] failure in
        self?.state.withLock { $0.error = $0.error ?? LiveKitError(failure) }
      }
    }
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

  /// Takes out a tile that has failed, which is no reason to end all that is mixed, and tries again after a while.
  /// - Parameter wanted: what is to be seen.
  /// - Returns: why it is not; nil where it is.
  func mend(_ wanted: CompositeScenery.Background, at now: MediaTime) -> LiveKitError? {
    if let (tile, error) = takeFailed() {
      tile?.remove()
      part.rounding?.show(backdrop: nil)
      note(error, at: now)
    } else if state.withLock({ $0.shown != wanted && !$0.failures.isOut(Self.key, Self.format, at: now) }) {
      do throws(LiveKitError) { try show(wanted) } catch { note(error, at: now) }
    }
    return state.withLock { state in
      // Another one may be wanted since it failed, such as black.
      if state.shown == wanted { state.failure = nil }
      return state.failure
    }
  }

  private func takeFailed() -> (MixTile?, LiveKitError)? {
    state.withLock { state in
      guard let error = state.error else { return nil }
      defer { (state.shown, state.tile, state.frame, state.error) = (.color(0), nil, nil, nil) }
      return (state.tile, error)
    }
  }

  private func note(_ error: LiveKitError, at now: MediaTime) {
    state.withLock { state in
      state.failure = error
      state.failures.note(Self.key, Self.format, at: now)
    }
  }
  /// It is the only one, and always of the same format.
  private static let (key, format) = ("", FailedInputs.Format())

  /// No thread of it is left when this returns.
  func remove() {
    let tile = state.withLock { state in
      defer { state.tile = nil }
      return state.tile
    }
    tile?.remove()
  }
}
