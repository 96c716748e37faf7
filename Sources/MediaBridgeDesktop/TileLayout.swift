import MediaBridge

/// Where the tiles of a window stand: rows of places of one size, as many beside each other as make the frames
/// largest, and the last row in the middle. Pure arithmetic.
enum TileLayout {
  struct Place: Hashable, Sendable {
    /// Pixels from the window's upper left corner.
    var x: Int
    var y: Int
    var size: Dimensions
  }

  /// Pixels between two tiles.
  static let gap = 4
  /// Most frames are of this shape; what else there is gets bars.
  private static let aspectRatio = 16.0 / 9.0
  /// No tile is smaller, though it may then stand out of the window.
  private static let smallest = 16

  static func places(count: Int, in window: Dimensions) -> [Place] {
    guard count > 0 else { return [] }
    let columns = columns(count: count, in: window)
    let rows = rows(of: count, columns: columns)
    let (width, height) = (side(of: Int(window.width), among: columns), side(of: Int(window.height), among: rows))
    let top = (Int(window.height) - extent(of: rows, each: height)) / 2
    return (0..<count).map { index in
      let row = index / columns
      let inRow = min(columns, count - row * columns)
      let left = (Int(window.width) - extent(of: inRow, each: width)) / 2
      return Place(
        x: max(0, left) + index % columns * (width + gap), y: max(0, top) + row * (height + gap),
        size: Dimensions(width: Int32(clamping: width), height: Int32(clamping: height)))
    }
  }

  /// The number of columns with the largest frames; of several the smallest, which leaves the fewest places empty.
  private static func columns(count: Int, in window: Dimensions) -> Int {
    func frameWidth(_ columns: Int) -> Double {
      let rows = rows(of: count, columns: columns)
      let height = Double(side(of: Int(window.height), among: rows))
      return min(Double(side(of: Int(window.width), among: columns)), height * aspectRatio)
    }
    // Beyond the first hundred nobody sees who it is.
    return (1...min(count, 100)).max { frameWidth($0) < frameWidth($1) } ?? 1
  }

  private static func rows(of count: Int, columns: Int) -> Int { (count + columns - 1) / columns }

  /// Even, as frames with half as much colour want it.
  private static func side(of whole: Int, among parts: Int) -> Int {
    max(smallest, (whole - gap * (parts - 1)) / parts / 2 * 2)
  }

  private static func extent(of parts: Int, each side: Int) -> Int { parts * side + (parts - 1) * gap }
}
