/// Lets media that comes as its source carries it through from a keyframe on, and from another one on where the source
/// has begun anew. Pure.
struct KeyframeGate: Sendable {
  /// Whether there is what the next frame needs.
  private(set) var isOpen = false
  private var run = 0

  /// - Returns: whether it goes through.
  mutating func takes(_ captured: CapturedMedia) -> Bool {
    if captured.run != run { (run, isOpen) = (captured.run, false) }
    isOpen = isOpen || !captured.media.isDelta
    return isOpen
  }

  /// What goes through next is a keyframe.
  mutating func close() { isOpen = false }
}
