/// A place in a composite, in pixels from its upper left corner.
public struct TilePlace: Hashable, Sendable {
  /// How a frame of another shape is laid into the place.
  public enum Fit: Sendable {
    /// All of the frame is seen, the background beside it.
    case contain
    /// All of the place is filled, and what stands out of it is cut off.
    case cover
  }

  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int
  public var fit: Fit

  public init(x: Int, y: Int, width: Int, height: Int, fit: Fit = .contain) {
    (self.x, self.y, self.width, self.height, self.fit) = (x, y, width, height, fit)
  }
}
