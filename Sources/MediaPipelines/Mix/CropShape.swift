import GStreamerKit
import MediaCore

/// The shape that an `aspectratiocrop` cuts frames to.
///
/// With its property that element, in GStreamer 1.22, notes the format that it has then, and takes it for that of the next
/// frame, even if another one has come in between: such a frame is torn, or not seen at all. So the property is set on the
/// streaming thread, between a frame's format and the frame.
final class CropShape: Sendable {
  private struct State {
    var wanted: String?
    var applied: String?
  }
  private let element: Element
  private let state: Locked<State>

  /// - Throws: no frames come to an element of that kind.
  init(_ element: Element) throws(PipelineError) {
    let state = Locked(State())
    (self.element, self.state) = (element, state)
    try element.beforeEachBuffer { element, _ in
      let wanted = state.withLock { state in
        defer { state.applied = state.wanted }
        return state.wanted != state.applied ? state.wanted : nil
      }
      if let wanted { try? element.set("aspect-ratio", to: wanted) }
    }
  }

  /// From the next frame on.
  /// - Parameter ratio: width by height, such as `16/9`; `0/1` cuts nothing off.
  func set(_ ratio: String) { state.withLock { $0.wanted = ratio } }
}
