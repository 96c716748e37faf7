import Dispatch
import Foundation
public import MediaBridge
import MediaCore

extension VideoView {
  public func render(frame: VideoFrame) {
    let (shown, isDebugged, isFirst, isUnwatched) = state.withLock { state -> (ShownFrames?, Bool, Bool, Bool) in
      guard state.isVisible, !state.isBlack else { return (nil, false, false, false) }
      let isUnwatched = state.watch.note(at: .now)
      if let shown = state.shown { return (shown, state.isDebugMode, false, isUnwatched) }
      state.waiting = frame
      guard case .waiting = state.phase else { return (nil, false, false, isUnwatched) }
      state.phase = .open
      return (nil, false, true, isUnwatched)
    }
    shown?.show(frame, isDebugged: isDebugged)
    if isFirst { arrangeSoon() }
    if isUnwatched { watch(for: RenderingWatch.patience) }
  }

  // MARK: Black

  package func setMuted(_ isMuted: Bool) { setMuted(isMuted, by: nil) }

  /// - Parameter attachment: nil where the view was added to the track itself.
  func setMuted(_ isMuted: Bool, by attachment: ViewAttachment?) {
    state.withLock { if $0.heeds(attachment) { $0.isMuted = isMuted } }
    blackenAsWanted()
  }

  func blackenAsWanted() {
    blackening.run {
      let (shown, isBlack) = state.withLock { state in
        if state.isBlack { state.waiting = nil }
        return (state.shown, state.isBlack)
      }
      shown?.frames.setMuted(isBlack)
    }
  }

  // MARK: Whether frames come

  private func watch(for duration: Duration) {
    tellSoon()
    let nanoseconds = Int(duration / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self else { return }
      if let rest = state.withLock({ $0.watch.check(at: .now) }) { return watch(for: rest) }
      tellDelegates()
    }
  }

  func tellSoon() {
    queue.async { [weak self] in self?.tellDelegates() }
  }

  /// Tells the delegates what is so now, where they do not know it. On the queue.
  func tellDelegates() {
    let (size, isRendering) = state.withLock { ($0.size, $0.isRendering) }
    if state.set(\.told.size, to: size) { delegates.each { $0.videoView(self, didUpdate: CGSize(size)) } }
    if state.set(\.told.isRendering, to: isRendering) {
      delegates.each { $0.videoView(self, didUpdate: isRendering) }
    }
  }
}
