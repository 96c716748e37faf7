import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import PipelineTemplates

/// Notices that a window which is a destination has been closed, or its display is gone.
final class WindowWatch: Sendable {
  private struct State {
    var isClosed = false
    var isDisplayLost = false
    var display: DisplayLoss.Watch?
  }
  private let state = Locked(State())
  private let onChange: @Sendable () -> Void
  private let onFailure: @Sendable (LiveKitError) -> Void
  /// That media stopped flowing is what other elements see of a window that was closed, sometimes before it says so.
  private static let patience = Duration.milliseconds(200)

  /// - Parameters:
  ///   - onChange: called when the window was closed, on any thread.
  ///   - onFailure: told why it cannot go on, on any thread.
  init(onChange: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (LiveKitError) -> Void) {
    (self.onChange, self.onFailure) = (onChange, onFailure)
  }

  /// Whether somebody closed it, who wants to see it no more.
  var isClosed: Bool { state.withLock { $0.isClosed } }
  /// Whether its pipeline has a thread that never returns, so that it cannot be stopped.
  var isDisplayLost: Bool { state.withLock { $0.isDisplayLost } }

  /// Call it once the window is open. Without it Xlib ends the process when its display goes.
  func start() {
    let watch = DisplayLoss.watch { [weak self] reason in self?.lost(reason) }
    state.withLock { $0.display = watch }
  }

  func stop() { state.withLock { $0.display }?.forget() }

  private func lost(_ reason: DisplayLoss.Reason) {
    if reason == .connection { state.withLock { $0.isDisplayLost = true } }
    onFailure(LiveKitError(.display, "the display is gone, and the window with it"))
  }

  /// The pipeline cannot go on.
  func broke(_ error: LiveKitError) {
    let cause = error.underlying as? PipelineError
    guard cause?.element != "window" || cause?.kind != .notFound else {
      state.withLock { $0.isClosed = true }
      return onChange()
    }
    Task { [self] in
      try? await Task.sleep(for: Self.patience)
      if !isClosed { onFailure(error) }
    }
  }

  /// Why no window can be opened, in words.
  static func refusal(_ error: LiveKitError) -> LiveKitError {
    guard (error.underlying as? PipelineError)?.element == "window" else { return error }
    let display = ProcessInfo.processInfo.environment["DISPLAY"].flatMap { $0.isEmpty ? nil : $0 }
    let reason = display.map { "display \($0) is none of a running desktop session" } ?? "DISPLAY is not set"
    return LiveKitError(.display, "no window can be opened: \(reason); set it to that of one (:0)", underlying: error)
  }
}
