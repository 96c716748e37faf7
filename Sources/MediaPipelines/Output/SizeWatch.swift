import GStreamerKit

/// Notices, once, that frames come in another size than the first. Pure.
struct SizeWatch {
  private var first: Caps?
  /// Of the newest frame.
  private var newest: Caps?
  private var isOver = false

  /// - Parameter caps: of the next frame.
  /// - Returns: whether its size is the first other one.
  mutating func isOther(_ caps: Caps) -> Bool {
    guard !isOver, caps !== newest else { return false }
    newest = caps
    guard let first else {
      first = caps
      return false
    }
    isOver = ["width", "height"].contains { first.int($0) != caps.int($0) }
    return isOver
  }
}
