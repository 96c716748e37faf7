import Dispatch
public import Foundation
import GStreamerKit
public import MediaBridge
import MediaCore
import MediaPipelines

/// A window on the desktop that shows the frames of a video track: add it to the track as a renderer.
///
/// The window opens with the first frame, or with `open()`, and is the output template `window`. Where there is no
/// display the view is not visible, so nothing is received for it; `failure` and the room's delegates
/// (`didFailToSubscribeTrackWithSid`) say why. It closes with `close()`, when its user closes it, and with the last
/// reference to the view. It is black while its track is muted, and once that is unsubscribed; when the network fails
/// it shows the last frame. All members may be used from any thread.
///
/// Where X11 goes away while a window is open, that is the view's `failure`; its pipeline then stays until the process
/// ends.
public final class VideoView: VideoRenderer, SizelessRenderer, FailingRenderer, MutedRenderer, Sendable {
  private enum Phase {
    /// Opens with the first frame.
    case waiting
    case open
    case closed
    case failed(LiveKitError)
  }

  private struct State {
    var phase = Phase.waiting
    var layoutMode = LayoutMode.fill
    var isHidden = false
    var isAdaptiveStreamEnabled = true
    var isDebugMode = false
    var isMuted = false
    var shown: ShownFrames?
    /// The window's; before there is one, what it is to have. Nil when that is left to the template.
    var size: Dimensions?
    /// The newest frame that came while there was no window to show it.
    var waiting: VideoFrame?
    var onClose: (@Sendable () -> Void)?
    var onFailure: (@Sendable (LiveKitError) -> Void)?

    var wantsWindow: Bool {
      if case .open = phase { return !isHidden }
      return false
    }
    var isVisible: Bool {
      switch phase {
      case .waiting, .open: !isHidden
      case .closed, .failed: false
      }
    }
  }

  private let state: Locked<State>
  private let factory: PipelineFactory
  private let muting = Reconciler()
  /// Where windows are opened and closed, and their events handled: one at a time.
  private let queue = DispatchQueue(label: "mediabridge.view")
  /// The windows that are closing.
  private let closing = DispatchGroup()

  /// A window of the template's size.
  public convenience init() { self.init(frame: .zero) }

  /// - Parameters:
  ///   - frame: the window's size in pixels, of the template's when it is empty; where the window opens is the
  ///     desktop's choice.
  ///   - pipelineFolder: a folder in which the pipeline template is looked for before the usual places.
  ///   - pipelineValues: values for the variables of the template, by name, such as `title`; they go before
  ///     `frame`. The window does not open with a name that the template does not have.
  public init(frame: CGRect, pipelineFolder: String? = nil, pipelineValues: [String: String] = [:]) {
    factory = PipelineFactory(folder: pipelineFolder, overrides: pipelineValues)
    state = Locked(State(size: Dimensions(rounding: frame.size)))
  }

  deinit {
    // The pipeline closes its window when it goes, too, but as a matter of its last reference.
    state.withLock { $0.shown }?.window.stop {}
  }

  // MARK: Properties

  /// How frames of another shape than the window's are shown; `fill` unless set.
  public var layoutMode: LayoutMode {
    get { state.withLock { $0.layoutMode } }
    set {
      guard state.set(\.layoutMode, to: newValue) else { return }
      queue.async { [weak self] in self?.fit() }
    }
  }

  /// Whether there is no window although there would be. A track that no other renderer shows pauses meanwhile.
  public var isHidden: Bool {
    get { state.withLock { $0.isHidden } }
    set {
      guard state.set(\.isHidden, to: newValue) else { return }
      arrangeSoon()
      adaptiveStreamDidChange()
    }
  }

  /// Whether adaptive stream may choose what is received by the window's size; true unless set.
  public nonisolated var isAdaptiveStreamEnabled: Bool {
    get { state.withLock { $0.isAdaptiveStreamEnabled } }
    set {
      if state.set(\.isAdaptiveStreamEnabled, to: newValue) { adaptiveStreamDidChange() }
    }
  }

  /// Writes the size of the frames over them and how many of them there are a second.
  public var isDebugMode: Bool {
    get { state.withLock { $0.isDebugMode } }
    set {
      guard state.set(\.isDebugMode, to: newValue), !newValue else { return }
      state.withLock { $0.shown }?.fitting.write(nil)
    }
  }

  /// Whether frames are seen, or would be if they came: not hidden, not closed, and not failed.
  public nonisolated var isVisible: Bool { state.withLock { $0.isVisible } }

  /// The window's size in pixels; empty before there is one, unless the view was made with a size.
  public nonisolated var adaptiveStreamSize: CGSize {
    state.withLock { $0.size }.map { CGSize(width: Int($0.width), height: Int($0.height)) } ?? .zero
  }

  /// Why there is no window: `display`, `missingElement`, `template` or `pipeline`; nil when nothing went wrong.
  public var failure: LiveKitError? {
    state.withLock { state in
      if case .failed(let error) = state.phase { return error }
      return nil
    }
  }

  /// Called, on a queue of the view's, when the user has closed the window, or when it failed as `failure` says. The
  /// view stays added to its track, invisible, until it is removed or opened again.
  public var onClose: (@Sendable () -> Void)? {
    get { state.withLock { $0.onClose } }
    set { state.withLock { $0.onClose = newValue } }
  }

  package func onFailure(_ tell: (@Sendable (LiveKitError) -> Void)?) { state.withLock { $0.onFailure = tell } }

  // MARK: Opening and closing

  /// Opens the window without waiting for a frame, also one that was closed. The desktop shows it with the first
  /// frame. Not to be called from `onClose`.
  /// - Throws: `display` when there is no display, `missingElement`, or `template`.
  public func open() throws(LiveKitError) {
    state.withLock { $0.phase = .open }
    queue.sync { arrange() }
    if let failure { throw failure }
    adaptiveStreamDidChange()
  }

  /// Closes the window for good, unless it is opened again. When it returns no thread or pipeline of it is left.
  public func close() async {
    state.withLock { state in
      state.phase = .closed
      state.waiting = nil
    }
    adaptiveStreamDidChange()
    await withCheckedContinuation { done in
      queue.async { [self] in
        arrange()
        closing.notify(queue: queue) { done.resume() }
      }
    }
  }

  private func arrangeSoon() {
    queue.async { [weak self] in self?.arrange() }
  }

  /// Brings what there is into line with what is wanted. On the queue.
  private func arrange() {
    let (wantsWindow, shown) = state.withLock { ($0.wantsWindow, $0.shown) }
    if wantsWindow, shown == nil { openWindow() }
    if !wantsWindow, let shown { close(shown) }
  }

  private func openWindow() {
    let (size, mode) = state.withLock { ($0.size, $0.layoutMode) }
    do throws(LiveKitError) {
      let values = size.map { ["width": "\($0.width)", "height": "\($0.height)"] } ?? [:]
      try LiveKitError.wrapping { () throws(PipelineFailure) in
        try factory.check([TemplateName(.output, "window")])
      }
      let shown = try ShownFrames(values: values, factory: factory)
      if let size = shown.fitting.size { shown.fitting.fit(into: size, TilePlace.Fit(mode)) }
      try shown.window.start(queue: queue) { [weak self, weak window = shown.window] event in
        if let window { self?.take(event, of: window) }
      }
      let first = state.withLock { state in
        state.shown = shown
        state.size = shown.fitting.size.map(Dimensions.init) ?? state.size
        defer { state.waiting = nil }
        return state.waiting
      }
      if let first { shown.show(first, isDebugged: isDebugMode) }
      blackenAsWanted()
      adaptiveStreamDidChange()
    } catch {
      end(.failed(error))
    }
  }

  private func close(_ shown: ShownFrames) {
    state.withLock { $0.shown = nil }
    closing.enter()
    shown.window.stop { [closing] in closing.leave() }
  }

  private func fit() {
    let (shown, size, mode) = state.withLock { ($0.shown, $0.size, $0.layoutMode) }
    if let size { shown?.fitting.fit(into: PixelSize(size), TilePlace.Fit(mode)) }
  }

  // MARK: Events, on the queue

  private func take(_ event: DisplayWindow.Event, of window: DisplayWindow) {
    // One that is being closed already may still tell of what that did to it.
    guard state.withLock({ $0.shown?.window === window }) else { return }
    switch event {
    case .resized(let size):
      state.withLock { $0.size = size }
      fit()
      adaptiveStreamDidChange()
    case .closed: end(.closed)
    case .failed(let error): end(.failed(error))
    }
  }

  private func end(_ phase: Phase) {
    let (onClose, onFailure) = state.withLock { state in
      state.phase = phase
      state.waiting = nil
      return (state.onClose, state.onFailure)
    }
    arrange()
    adaptiveStreamDidChange()
    if case .failed(let error) = phase { onFailure?(error) }
    onClose?()
  }

  // MARK: Frames

  public func render(frame: VideoFrame) {
    let (shown, isDebugged, isFirst) = state.withLock { state -> (ShownFrames?, Bool, Bool) in
      if let shown = state.shown { return (shown, state.isDebugMode, false) }
      guard state.isVisible, !state.isMuted else { return (nil, false, false) }
      state.waiting = frame
      guard case .waiting = state.phase else { return (nil, false, false) }
      state.phase = .open
      return (nil, false, true)
    }
    shown?.show(frame, isDebugged: isDebugged)
    if isFirst { arrangeSoon() }
  }

  package func setMuted(_ isMuted: Bool) {
    state.withLock { state in
      state.isMuted = isMuted
      if isMuted { state.waiting = nil }
    }
    blackenAsWanted()
  }

  private func blackenAsWanted() {
    muting.run {
      let (shown, isMuted) = state.withLock { ($0.shown, $0.isMuted) }
      shown?.frames.setMuted(isMuted)
    }
  }
}

/// A window with the way of frames into it.
private final class ShownFrames: Sendable {
  let window: DisplayWindow
  let fitting: FrameFitting
  let frames: FrameInput
  private let rate = Locked(FrameRate())

  init(values: [String: String], factory: PipelineFactory) throws(LiveKitError) {
    window = try DisplayWindow(template: "window", values: values, factory: factory)
    let made = window.made
    frames = FrameInput(into: try LiveKitError.wrapping { () throws(PipelineFailure) in try made.source("video") })
    let pipeline = window.made.pipeline
    fitting = FrameFitting(overlayName: "debug") { try? pipeline.element(named: $0) }
  }

  func show(_ frame: VideoFrame, isDebugged: Bool) {
    if isDebugged, let rate = rate.withLock({ $0.count(at: .now) }) {
      fitting.write("\(frame.dimensions), \(rate) fps")
    }
    frames.show(frame.buffer)
  }
}
