import CGStreamer
import MediaCore

/// Posts the error of an element that does not take what it is given and says nothing of that itself.
func postRefusal(_ result: GstFlowReturn, by element: UnsafeMutablePointer<GstElement>) {
  let reason = gst_flow_get_name(result).map { String(cString: $0) } ?? "error"
  let error = g_error_new_literal(
    gst_stream_error_quark(), Int32(GST_STREAM_ERROR_FAILED.rawValue), "what comes cannot be taken (\(reason))")
  gst_element_post_message(element, gst_message_new_error(element.cast(), error, nil))
  g_error_free(error)
}

/// The branches of a pipeline that fail alone: what goes wrong in one is told to who runs it, and is no error of the pipeline.
final class BranchErrors: Sendable {
  typealias Handler = @Sendable (PipelineError) -> Void
  private let branches = Locked<[(bin: SharedElement, handler: Handler)]>([])

  func add(_ bin: SharedElement, _ handler: @escaping Handler) { branches.withLock { $0.append((bin, handler)) } }

  func remove(_ bin: SharedElement) {
    // What is let go of may end with it, which is not to be under the lock.
    let gone = branches.withLock { branches in
      defer { branches.removeAll { $0.bin.pointer == bin.pointer } }
      return branches.filter { $0.bin.pointer == bin.pointer }
    }
    _ = gone
  }

  /// - Parameter source: of a message; an element or a pad.
  /// - Returns: nil where it is in none of the branches.
  func handler(for source: UnsafeMutablePointer<GstObject>?) -> Handler? {
    guard let source else { return nil }
    return branches.withLock { $0 }.first { gst_object_has_as_ancestor(source, $0.bin.pointer.cast()) != 0 }?.handler
  }
}
