import CGStreamer
import MediaCore

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
