import MediaBridge

extension Dimensions {
  /// Encoders want even sizes; nil for a size that no camera has, which is a stranger's idea.
  var encodable: Dimensions? {
    guard (16...8192).contains(width), (16...8192).contains(height) else { return nil }
    return Dimensions(width: width / 2 * 2, height: height / 2 * 2)
  }

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
