/// Width and height in pixels.
package struct PixelSize: Hashable, Sendable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  /// A square counts as portrait, as in LiveKit's layouts.
  package var isLandscape: Bool { width > height }

  /// Where the parts of a length end that share it: they abut, whatever the length is divided by.
  package static func edge(_ index: Int, of parts: Int, in length: Int) -> Int { even(index * length, over: parts) }

  /// The even number closest to a fraction: where colour has half the pixels, others would lie between two of them.
  package static func even(_ numerator: Int, over denominator: Int) -> Int {
    (numerator + denominator) / (denominator * 2) * 2
  }

  /// The largest size of this shape that fits, of even sides.
  package func contained(in place: PixelSize) -> PixelSize {
    guard width > 0, height > 0 else { return place }
    if width * place.height > height * place.width {
      return PixelSize(width: place.width, height: max(2, Self.even(place.width * height, over: width)))
    }
    return PixelSize(width: max(2, Self.even(place.height * width, over: height)), height: place.height)
  }

  /// What is left for tiles that are `gap` pixels apart from each other and from the edges, once each has the gap to its
  /// right and below it.
  package func less(gap: Int) -> PixelSize { PixelSize(width: width - gap, height: height - gap) }
}
