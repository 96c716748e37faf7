import Dispatch
import GStreamerKit
public import MediaBridge
import MediaCore
package import MediaPipelines
import PipelineTemplates

/// A window on the desktop with a tile for each of several tracks, side by side as large as they fit. It is the output
/// template `window-grid`, and each tile the template `window-tile`. All members may be used from any thread.
///
/// Where X11 goes away while a window is open, or takes its window away, that is the window's `failure`. Its pipeline
/// then stays until the process ends.
public final class TileWindow: Sendable {
  private struct State {
    var size: Dimensions
    var tiles: [VideoTile] = []
    var isOver = false
    var failure: LiveKitError?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let window: DisplayWindow
  private let factory: PipelineFactory
  private let layoutMode: VideoView.LayoutMode
  private let state: Locked<State>
  /// Where tiles come and go and the window's events are handled: one at a time.
  private let queue = DispatchQueue(label: "mediabridge.tiles")
  /// The size of the template's window when that is not to be found in it.
  private static let usual = Dimensions(width: 1280, height: 720)

  /// The templates that a window is made of.
  package static let templates = [TemplateName(.output, "window-grid"), TemplateName(.tile, "window-tile")]

  /// Opens the window.
  /// - Parameters:
  ///   - size: in pixels; nil for that of the template.
  ///   - pipelineFolder: a folder in which the pipeline templates are looked for before the usual places.
  ///   - pipelineValues: values for the variables of the two templates, by name, such as `title`; they go before
  ///     `size`.
  /// - Throws: `invalidParameter` for a name that neither template has, `display` when there is no display,
  ///   `missingElement`, or `template`.
  public init(
    size: Dimensions? = nil, layoutMode: VideoView.LayoutMode = .fit, pipelineFolder: String? = nil,
    pipelineValues: [String: String] = [:]
  ) throws(LiveKitError) {
    factory = PipelineFactory(folder: pipelineFolder, overrides: pipelineValues)
    self.layoutMode = layoutMode
    let values = size.map { ["width": "\($0.width)", "height": "\($0.height)"] } ?? [:]
    let factory = factory
    try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.check(Self.templates) }
    window = try DisplayWindow(template: "window-grid", values: values, factory: factory)
    let pipeline = window.made.pipeline
    let whole = FrameFitting(overlayName: "") { try? pipeline.element(named: $0) }
    state = Locked(State(size: whole.size.map(Dimensions.init) ?? Self.usual))
    try window.start(queue: queue) { [weak self] in self?.take($0, whole) }
  }

  deinit {
    window.stop {}
  }

  /// The window's size in pixels.
  public var size: Dimensions { state.withLock { $0.size } }
  /// From the upper left to the lower right.
  public var tiles: [VideoTile] { state.withLock { $0.tiles } }
  /// Why the window is gone; nil while it is not, and when its user or `close()` has closed it.
  public var failure: LiveKitError? { state.withLock { $0.failure } }

  /// Adds a tile behind the others, which make room for it. Give it to a track as a renderer, and take it from there
  /// before it is removed here.
  /// - Throws: `missingElement` or `template` for the template of tiles; `invalidState` when the window is gone.
  public func addTile(name: String) throws(LiveKitError) -> VideoTile {
    let template = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.fill(.tile, "window-tile", values: [:])
    }
    let added: Result<VideoTile, LiveKitError> = queue.sync { [self] in
      do throws(LiveKitError) { return .success(try makeTile(name: name, of: template)) } catch {
        return .failure(error)
      }
    }
    let tile = try added.get()
    tile.adaptiveStreamDidChange()
    return tile
  }

  /// Takes a tile out; the others close up. When it returns, what the tile consisted of has stopped.
  public func remove(_ tile: VideoTile) {
    queue.sync {
      state.withLock { $0.tiles.removeAll { $0 === tile } }
      if window.isLost { tile.disappear() } else { tile.remove() }
      layOut()
    }
    tile.adaptiveStreamDidChange()
  }

  /// Returns when the window is gone: its user has closed it, it has failed, or `close()` was called.
  public func untilClosed() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if !state.isOver { state.waiters.append(continuation) }
        return state.isOver
      }
      if isOver { continuation.resume() }
    }
  }

  /// Closes the window. When it returns no thread or pipeline of it is left.
  public func close() async {
    end(nil)
    await withCheckedContinuation { done in
      queue.async { [window] in window.stop { done.resume() } }
    }
  }

  private func makeTile(
    name: String, of template: FilledTemplate
  ) throws(LiveKitError) -> VideoTile {
    guard !state.withLock({ $0.isOver }) else {
      throw LiveKitError(.invalidState, "the window is closed; open another one")
    }
    let tile: VideoTile
    let onFailure = Locked<(@Sendable (LiveKitError) -> Void)?>(nil)
    do throws(PipelineError) {
      let mixed = try MixTile(
        template, in: window.made.pipeline, onFailure: { error in onFailure.withLock { $0 }?(LiveKitError(error)) })
      tile = VideoTile(name: name, in: mixed, layoutMode: layoutMode)
    } catch {
      throw LiveKitError(error, in: template)
    }
    // Others go on without it.
    onFailure.withLock { $0 = { [queue, weak tile] error in queue.async { [tile] in tile?.fail(error) } } }
    state.withLock { $0.tiles.append(tile) }
    layOut()
    tile.start()
    return tile
  }

  // MARK: On the queue

  private func layOut() {
    let (tiles, size) = state.withLock { ($0.tiles, $0.size) }
    for (tile, place) in zip(tiles, TileLayout.places(count: tiles.count, in: size)) { tile.put(at: place) }
    tiles.first?.adaptiveStreamDidChange()
  }

  private func take(_ event: DisplayWindow.Event, _ whole: FrameFitting) {
    switch event {
    case .resized(let size):
      state.withLock { $0.size = size }
      whole.fit(into: PixelSize(size), .contain)
      layOut()
    case .closed: end(nil)
    case .failed(let error): end(error)
    }
  }

  /// The first end counts.
  private func end(_ error: LiveKitError?) {
    let (tiles, waiters) = state.withLock { state -> ([VideoTile], [CheckedContinuation<Void, Never>]) in
      guard !state.isOver else { return ([], []) }
      state.isOver = true
      state.failure = error
      defer { state.waiters = [] }
      return (state.tiles, state.waiters)
    }
    for tile in tiles { tile.disappear() }
    tiles.first?.adaptiveStreamDidChange()
    for waiter in waiters { waiter.resume() }
  }
}
