import Dispatch
public import MediaBridge
import MediaPipelines
import PipelineTemplates

extension VideoView {
  /// Opens the window without waiting for a frame, also one that was closed. The desktop shows it with the first
  /// frame. Not to be called from `onClose`, or by a delegate of the view's.
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
    visibilityChanged()
    await withCheckedContinuation { done in
      queue.async { [self] in
        arrange()
        closing.notify(queue: queue) { done.resume() }
      }
    }
  }

  package func trackEnded() { trackEnded(by: nil) }

  /// - Parameter attachment: nil where the view was added to the track itself.
  func trackEnded(by attachment: ViewAttachment?) {
    setMuted(true, by: attachment)
    let closes = state.withLock { state in
      guard state.heeds(attachment), state.closesWithTrack, case .open = state.phase else { return false }
      state.phase = .waiting
      return true
    }
    if closes { arrangeSoon() }
  }

  func arrangeSoon() {
    queue.async { [weak self] in self?.arrange() }
  }

  /// Whether the view is visible is another than before.
  func visibilityChanged() {
    adaptiveStreamDidChange()
    tellSoon()
  }

  // MARK: On the queue

  /// Brings what there is into line with what is wanted.
  private func arrange() {
    let (wantsWindow, shown) = state.withLock { ($0.wantsWindow, $0.shown) }
    if wantsWindow, shown == nil { openWindow() }
    if !wantsWindow, let shown { close(shown) }
  }

  private func openWindow() {
    do throws(LiveKitError) {
      let shown = try makeWindow()
      let first = state.withLock { state in
        state.shown = shown
        state.size = shown.size ?? state.size
        defer { state.waiting = nil }
        return state.waiting
      }
      if let first { shown.show(first, isDebugged: isDebugMode) }
      // What was changed meanwhile did not find the window.
      layOut()
      blackenAsWanted()
      tellDelegates()
      adaptiveStreamDidChange()
    } catch {
      end(.failed(error))
    }
  }

  private func makeWindow() throws(LiveKitError) -> ShownFrames {
    let (size, look) = state.withLock { ($0.size, $0.look) }
    let values = size.map { ["width": "\($0.width)", "height": "\($0.height)"] } ?? [:]
    let factory = factory
    try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.check([TemplateName(.output, "window")])
    }
    let shown = try ShownFrames(values: values, factory: factory)
    shown.lay(out: look, in: shown.size)
    try shown.window.start(queue: queue) { [weak self, weak window = shown.window] event in
      if let window { self?.take(event, of: window) }
    }
    return shown
  }

  private func close(_ shown: ShownFrames) {
    state.withLock { $0.shown = nil }
    closing.enter()
    shown.window.stop { [closing] in closing.leave() }
  }

  func layOut() {
    let (shown, size, look) = state.withLock { ($0.shown, $0.size, $0.look) }
    shown?.lay(out: look, in: size)
  }

  private func take(_ event: DisplayWindow.Event, of window: DisplayWindow) {
    // One that is being closed already may still tell of what that did to it.
    guard state.withLock({ $0.shown?.window === window }) else { return }
    switch event {
    case .resized(let size):
      state.withLock { $0.size = size }
      layOut()
      adaptiveStreamDidChange()
      tellDelegates()
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
    visibilityChanged()
    if case .failed(let error) = phase { onFailure?(error) }
    onClose?()
  }
}
