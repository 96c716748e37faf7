public import MediaBridge

public struct Colour: Hashable, Sendable, CustomStringConvertible {
  public var red, green, blue: Int

  public init(red: Int, green: Int, blue: Int) { (self.red, self.green, self.blue) = (red, green, blue) }

  public var description: String { "(\(red), \(green), \(blue))" }

  public static let black = Colour(red: 0, green: 0, blue: 0)
  public static let red = Colour(red: 255, green: 0, blue: 0)
  public static let green = Colour(red: 0, green: 255, blue: 0)
  public static let blue = Colour(red: 0, green: 0, blue: 255)
  public static let white = Colour(red: 255, green: 255, blue: 255)

  /// Within what becomes of a colour on the way through other formats.
  public func isNear(_ other: Colour) -> Bool {
    abs(red - other.red) < 24 && abs(green - other.green) < 24 && abs(blue - other.blue) < 24
  }
}

public struct Screenshot: Sendable {
  let bytes: [UInt8]
  public let size: Dimensions

  public subscript(x: Int, y: Int) -> Colour {
    let start = (y * Int(size.width) + x) * 3
    return Colour(red: Int(bytes[start]), green: Int(bytes[start + 1]), blue: Int(bytes[start + 2]))
  }

  /// Mean distance of the samples from a frame that is expected at a place: 0…255.
  public func distance(from expected: (_ x: Int, _ y: Int) -> Colour, in place: (x: Range<Int>, y: Range<Int>))
    -> Double
  {
    var sum = 0
    for y in place.y {
      for x in place.x {
        let (one, other) = (self[x, y], expected(x - place.x.lowerBound, y - place.y.lowerBound))
        sum += abs(one.red - other.red) + abs(one.green - other.green) + abs(one.blue - other.blue)
      }
    }
    return Double(sum) / Double(place.x.count * place.y.count * 3)
  }
}
