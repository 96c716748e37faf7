import Synchronization

/// Whether a track's frames are sent in another order than they are shown, as far as its keyframes have said. The network's
/// thread writes, any other reads.
final class FrameOrder: Sendable {
  private let reorders = Atomic(false)

  var isReordered: Bool { reorders.load(ordering: .relaxed) }

  func note(_ isReordered: Bool) { reorders.store(isReordered, ordering: .relaxed) }
}
