import MediaCore
import Synchronization

/// In which form a track's frames are sent, as far as its packets have said. The network's thread writes, any other
/// reads.
final class FrameForm: Sendable {
  private let reorders = Atomic(false)
  private let layers = Atomic(false)
  private let firstLayers = Handler<Void>()

  /// Whether they are sent in another order than they are shown.
  var isReordered: Bool { reorders.load(ordering: .relaxed) }

  /// Whether a frame may be several in one stream, one for each spatial layer. Once it was so it stays: whoever sends
  /// may leave layers out for a while.
  var isLayered: Bool { layers.load(ordering: .relaxed) }

  func note(isReordered: Bool) { reorders.store(isReordered, ordering: .relaxed) }

  func noteLayers() {
    if !layers.exchange(true, ordering: .relaxed) { firstLayers.call(()) }
  }

  /// Calls `handler` when spatial layers come for the first time, on the network's thread.
  func onLayers(_ handler: @escaping @Sendable () -> Void) { firstLayers.set { _ in handler() } }
}
