/// A place in a composite, in pixels from its upper left corner.
package struct TilePlace: Hashable, Sendable {
  /// How a frame of another shape is laid into the place.
  package enum Fit: Sendable {
    /// All of the frame is seen, the background beside it.
    case contain
    /// All of the place is filled, and what stands out of it is cut off.
    case cover
  }

  package var x: Int
  package var y: Int
  package var width: Int
  package var height: Int
  package var fit: Fit

  package init(x: Int, y: Int, width: Int, height: Int, fit: Fit = .contain) {
    (self.x, self.y, self.width, self.height, self.fit) = (x, y, width, height, fit)
  }

  package var size: PixelSize { PixelSize(width: width, height: height) }

  /// Whether a pixel is in both.
  package func overlaps(_ other: TilePlace) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }

  /// From a place of those that abut in `PixelSize.less(gap:)` to one that is so many pixels apart from the others.
  package func apart(by gap: Int) -> TilePlace {
    TilePlace(x: x + gap, y: y + gap, width: width - gap, height: height - gap, fit: fit)
  }
}
