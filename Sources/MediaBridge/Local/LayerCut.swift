import MediaCore

/// The layers of a video track, cut for the size in which its frames come. A window that is dragged has many: one that
/// lasts for a second is there to stay, and until then frames are fitted into the layers of the one before. What is
/// only turned is followed at once. Pure.
struct LayerCut: Sendable {
  private static let patience = Duration.seconds(1)

  private let plan: PublishPlan
  /// From the smallest to the largest.
  private(set) var layers: [PublishPlan.Layer]
  /// Of the frames for which they are cut; nil before the first frame of a track whose layers stay.
  private(set) var size: Dimensions?
  private var next: Next?

  /// What may follow.
  private struct Next: Sendable {
    var size: Dimensions
    var since: MediaTime
  }

  init(_ plan: PublishPlan) { (self.plan, layers, size) = (plan, plan.layers, plan.frameSize) }

  /// - Parameters:
  ///   - new: the size of a frame as it is seen.
  ///   - time: of the frame.
  /// - Returns: whether the layers are others from this frame on.
  mutating func note(_ new: Dimensions, at time: MediaTime) -> Bool {
    guard new != size else {
      next = nil
      return false
    }
    let since = next.flatMap { $0.size == new ? $0.since : nil } ?? time
    guard plan.frameSize == nil || isOnlyTurned(new) || time - since >= Self.patience else {
      next = Next(size: new, since: since)
      return false
    }
    let before = layers
    (layers, size, next) = (plan.layers(for: new), new, nil)
    return layers != before
  }

  private func isOnlyTurned(_ new: Dimensions) -> Bool {
    size.map { ($0.width, $0.height) == (new.height, new.width) } ?? true
  }
}
