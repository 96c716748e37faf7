import MediaPipelines

/// Tiles of one size in rows, with the shapes and limits of LiveKit's `GridLayout`, which its Egress draws. Pure.
enum GridLayout {
  private struct Shape {
    var columns: Int
    var rows: Int
    /// Pixels of the composite below which a smaller grid is taken.
    var minimumWidth = 0
    /// Nil for both.
    var isLandscape: Bool?

    var capacity: Int { columns * rows }
  }

  /// By how many they hold.
  private static let shapes = [
    Shape(columns: 1, rows: 1), Shape(columns: 1, rows: 2, isLandscape: false),
    Shape(columns: 2, rows: 1, isLandscape: true), Shape(columns: 2, rows: 2, minimumWidth: 560),
    Shape(columns: 3, rows: 3, minimumWidth: 700), Shape(columns: 4, rows: 4, minimumWidth: 960),
    Shape(columns: 5, rows: 5, minimumWidth: 1100),
  ]

  /// The smallest that holds them all, or the largest that a composite of this width may have.
  private static func shape(for count: Int, in size: PixelSize) -> Shape {
    let fitting = shapes.filter { $0.minimumWidth <= size.width && $0.isLandscape != !size.isLandscape }
    return fitting.first { $0.capacity >= count } ?? fitting.last ?? shapes[0]
  }

  /// How many tiles are seen when there are `count`.
  static func capacity(for count: Int, in size: PixelSize) -> Int { shape(for: count, in: size).capacity }

  /// The places of the tiles that are seen. There are only as many rows as are used; the last one begins at the left.
  /// - Parameter gap: even pixels between tiles and around them; one alone has none.
  static func places(count: Int, in size: PixelSize, gap: Int = 0) -> [TilePlace] {
    guard count > 0 else { return [] }
    let shape = shape(for: count, in: size)
    let shown = min(count, shape.capacity)
    let rows = (shown + shape.columns - 1) / shape.columns
    let gap = shown > 1 ? gap : 0
    let area = size.less(gap: gap)
    return (0..<shown).map { index in
      let (column, row) = (index % shape.columns, index / shape.columns)
      let x = PixelSize.edge(column, of: shape.columns, in: area.width)
      let y = PixelSize.edge(row, of: rows, in: area.height)
      let place = TilePlace(
        x: x, y: y, width: PixelSize.edge(column + 1, of: shape.columns, in: area.width) - x,
        height: PixelSize.edge(row + 1, of: rows, in: area.height) - y)
      return place.apart(by: gap)
    }
  }
}
