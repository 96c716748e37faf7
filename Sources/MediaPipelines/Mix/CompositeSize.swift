/// The size of a composite in pixels.
public struct CompositeSize: Hashable, Sendable {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  /// A square counts as portrait, as in LiveKit's layouts.
  var isLandscape: Bool { width > height }

  /// Where the parts of a length end that share it: whole pixels that abut, whatever the length is divided by.
  static func edge(_ index: Int, of parts: Int, in length: Int) -> Int { (index * length * 2 + parts) / (parts * 2) }
}
