import Dispatch
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// A template's pipeline that ends in a window on the desktop, from its opening to its end. The sink is called
/// `window`.
final class DisplayWindow: Sendable {
  enum Event: Sendable {
    /// The window has another size.
    case resized(Dimensions)
    /// The user closed it.
    case closed
    case failed(LiveKitError)
  }

  /// What a window that was closed takes to say so on a busy machine.
  private static let closingTime = DispatchTimeInterval.seconds(2)

  let made: TemplatePipeline
  private let sink: Element
  /// What the sink said last; nil before it has a window.
  private let size = Locked<Dimensions?>(nil)
  private struct Display {
    var isLost = false
    var watch: DisplayLoss.Watch?
  }
  private let display = Locked(Display())

  /// - Throws: `missingElement` or `template`.
  init(template: String, values: [String: String], factory: PipelineFactory) throws(LiveKitError) {
    made = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try factory.make(.output, template, values: values)
    }
    do { sink = try made.pipeline.element(named: "window") } catch { throw LiveKitError(error, in: made.template) }
  }

  /// - Parameters:
  ///   - queue: where `onEvent` is called.
  ///   - onEvent: called in order, until the window is stopped; one that is closed or has failed may say so more than
  ///     once.
  /// - Throws: `display` when there is no display to open a window on, or `pipeline`.
  func start(queue: DispatchQueue, onEvent: @escaping @Sendable (Event) -> Void) throws(LiveKitError) {
    // Not the pipeline, which holds this handler.
    let (made, template) = (made, made.template)
    made.pipeline.onMessage { message in
      guard case .error(let error) = message else { return }
      let tell: @Sendable () -> Void = { onEvent(Self.event(error, in: template)) }
      // That media stopped flowing is what the others see of a window that was closed, sometimes before it says so.
      guard error.kind == .stream else { return queue.async(execute: tell) }
      queue.asyncAfter(deadline: .now() + Self.closingTime, execute: tell)
    }
    // A sink of several elements has a pad only once it knows which; its window keeps the size that the template says.
    try? made.pipeline.onFormatWish(ofSinkNamed: "window") { [weak self] in
      queue.async { [weak self] in
        if let size = self?.newSize() { onEvent(.resized(size)) }
      }
    }
    do { try made.pipeline.start() } catch {
      guard error.element == "window", error.kind != .format else { throw LiveKitError(error, in: made.template) }
      throw Self.noDisplay(error)
    }
    watchDisplay { error in queue.async { onEvent(.failed(error)) } }
  }

  /// Closes the window. `completion` is called once no thread of it is left.
  func stop(completion: @escaping @Sendable () -> Void) {
    let (isLost, watch) = display.withLock { ($0.isLost, $0.watch) }
    watch?.forget()
    // Without its display it would wait in vain for a thread that is kept.
    if isLost { completion() } else { made.pipeline.stop { _ in completion() } }
  }

  /// Whether the display is gone: nothing of the pipeline can be taken out or stopped any more.
  var isLost: Bool { display.withLock { $0.isLost } }

  private func watchDisplay(onLoss: @escaping @Sendable (LiveKitError) -> Void) {
    let watch = DisplayLoss.watch { [weak self] reason in
      if reason == .connection { self?.display.withLock { $0.isLost = true } }
      onLoss(Self.lost(reason))
    }
    display.withLock { $0.watch = watch }
  }

  private static func lost(_ reason: DisplayLoss.Reason) -> LiveKitError {
    let name = ProcessInfo.processInfo.environment["DISPLAY"] ?? ""
    return switch reason {
    case .connection: LiveKitError(.display, "display \(name) is gone, and the window with it")
    case .refusal: LiveKitError(.display, "display \(name) does not show the window any more: somebody else closed it")
    }
  }

  /// The window's size when it is another one than last time.
  private func newSize() -> Dimensions? {
    guard let width = sink.int("window-width"), let height = sink.int("window-height"), width > 0, height > 0 else {
      return nil
    }
    let size = Dimensions(width: Int32(clamping: width), height: Int32(clamping: height))
    return self.size.set(\.self, to: size) ? size : nil
  }

  /// X11's sinks report a window that was closed as something that is not there any more.
  private static func event(_ error: PipelineError, in template: FilledTemplate) -> Event {
    error.element == "window" && error.kind == .notFound ? .closed : .failed(LiveKitError(error, in: template))
  }

  private static func noDisplay(_ error: PipelineError) -> LiveKitError {
    guard let display = ProcessInfo.processInfo.environment["DISPLAY"], !display.isEmpty else {
      return LiveKitError(
        .display,
        "no window can be opened: DISPLAY is not set; run this in a desktop session, or set DISPLAY to that of one (:0)"
      )
    }
    return LiveKitError(
      .display,
      "no window can be opened on display \(display) (\(error.message)); set DISPLAY to that of a running desktop session"
    )
  }
}
