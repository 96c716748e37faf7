extension Dimensions {
  /// What an encode template is told of the size. Where a person has set one side the other keeps the shape.
  func values(besides set: [String: String]) -> [String: String] {
    var (width, height) = (Int(width), Int(height))
    let shape = (width: Double(width), height: Double(height))
    if let given = set["width"].flatMap(Double.init), set["height"] == nil {
      height = Self.even(given * shape.height / shape.width)
    } else if let given = set["height"].flatMap(Double.init), set["width"] == nil {
      width = Self.even(given * shape.width / shape.height)
    }
    return ["width": "\(width)", "height": "\(height)"]
  }

  /// Encoders want even sizes.
  private static func even(_ length: Double) -> Int { max(2, Int(min(length, 32768) / 2) * 2) }
}
