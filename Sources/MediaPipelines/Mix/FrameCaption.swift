import GStreamerKit
import MediaCore

/// What the element `caption` writes over the whole frame: the label, and below it what is said.
///
/// Both come from threads of their own, and the streaming thread alone writes, so that none of them undoes another.
final class FrameCaption: Sendable {
  private struct State {
    var label = ""
    var captions = ""
    var isWritten = true
  }

  private let element: Element
  private let state = Locked(State())

  /// - Throws: it is no element that writes.
  init(_ element: Element) throws(PipelineError) {
    self.element = element
    try Caption.write("", over: element)
  }

  /// - Parameter label: of anybody; empty shows none.
  func show(label: String) {
    let shown = LabelText.shown(label, columns: Caption.columns)
    state.withLock { ($0.label, $0.isWritten) = (shown, false) }
  }

  /// Called on the streaming thread after each frame, for the next one.
  /// - Parameter captions: lines that fit.
  func write(captions: String) {
    let lines: String? = state.withLock { state in
      guard !state.isWritten || state.captions != captions else { return nil }
      (state.captions, state.isWritten) = (captions, true)
      return [state.label, captions].filter { !$0.isEmpty }.joined(separator: "\n")
    }
    // It has the properties, since it began with them.
    if let lines { try? Caption.write(lines, over: element) }
  }
}
