import MediaPipelines

/// One large tile and a strip of small ones beside it, with the proportions of LiveKit's `FocusLayout`. Pure.
enum SpeakerLayout {
  /// Composites up to this width have the strip below.
  private static let narrow = 600
  /// The strip takes one of so many parts.
  private static let parts = 6

  /// The large tile is the first. Of the strip those that are seen in part are there, too, and stand out of the
  /// composite.
  /// - Parameter gap: even pixels between tiles and around them; one alone has none.
  static func places(count: Int, in size: PixelSize, gap: Int = 0) -> [TilePlace] {
    guard count > 1 else {
      return count == 1 ? [TilePlace(x: 0, y: 0, width: size.width, height: size.height)] : []
    }
    let area = size.less(gap: gap)
    let places = size.width <= narrow ? above(count - 1, area) : beside(count - 1, area)
    return places.map { $0.apart(by: gap) }
  }

  /// How many places the strip has, for the order in which it is filled: `CarouselLayout` counts so.
  static func stripCapacity(in size: PixelSize) -> Int {
    let length = Double(size.width <= narrow ? size.width : size.height)
    let thickness = Double(size.width <= narrow ? size.height : size.width) / Double(parts)
    let tile = size.width <= narrow ? max(thickness * 1.6, 140) : max(thickness * 0.6, 130)
    return max(1, Int((length / tile).rounded()))
  }

  private static func beside(_ count: Int, _ size: PixelSize) -> [TilePlace] {
    let column = PixelSize.edge(1, of: parts, in: size.width)
    let main = TilePlace(x: column, y: 0, width: size.width - column, height: size.height)
    // 16:10, from the top down.
    let edge = { (index: Int) in PixelSize.even(index * size.width * 10, over: parts * 16) }
    let strip = (0..<count).lazy.prefix { edge($0) < size.height }.map { index in
      TilePlace(x: 0, y: edge(index), width: column, height: edge(index + 1) - edge(index))
    }
    return [main] + strip
  }

  private static func above(_ count: Int, _ size: PixelSize) -> [TilePlace] {
    let top = PixelSize.edge(parts - 1, of: parts, in: size.height)
    let main = TilePlace(x: 0, y: 0, width: size.width, height: top)
    let edge = { (index: Int) in PixelSize.even(index * size.height * 16, over: parts * 10) }
    let strip = (0..<count).lazy.prefix { edge($0) < size.width }.map { index in
      TilePlace(x: edge(index), y: top, width: edge(index + 1) - edge(index), height: size.height - top)
    }
    return [main] + strip
  }
}
