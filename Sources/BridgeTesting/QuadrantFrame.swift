public import GStreamerKit
public import MediaCore

/// A frame in four parts, red and green above blue and white, whose pixels anyone can predict.
public struct QuadrantFrame: Sendable {
  /// How luma and chroma stand for RGB: the weights of red and blue, the range, and GStreamer's name for all of it.
  public struct Colorimetry: Sendable, CustomStringConvertible {
    public let name: String
    public let red: Double
    public let blue: Double
    public let isFullRange: Bool

    public static let bt601 = Colorimetry(name: "bt601", red: 0.299, blue: 0.114, isFullRange: false)
    public static let bt709 = Colorimetry(name: "bt709", red: 0.2126, blue: 0.0722, isFullRange: false)
    /// As JPEG has it.
    public static let fullRange = Colorimetry(name: "1:4:0:0", red: 0.299, blue: 0.114, isFullRange: true)
    public var description: String { name }

    /// ITU-R BT.601-7, 2.5.
    public func luma(_ color: Color) -> [UInt8] {
      let (r, g, b) = (Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
      let y = red * r + (1 - red - blue) * g + blue * b
      let chroma = [(b - y) / (2 * (1 - blue)), (r - y) / (2 * (1 - red))]
      let (low, scale, chromaScale) = isFullRange ? (0.0, 255.0, 255.0) : (16, 219, 224)
      return ([low + y * scale] + chroma.map { min(128 + $0 * chromaScale, 255) }).map { UInt8($0.rounded()) }
    }
  }

  public struct Color: Hashable, Sendable {
    public let red: UInt8
    public let green: UInt8
    public let blue: UInt8
    public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

    public func isNear(_ other: Color, within tolerance: Int) -> Bool {
      zip([red, green, blue], [other.red, other.green, other.blue]).allSatisfy {
        abs(Int($0) - Int($1)) <= tolerance
      }
    }
  }

  /// In reading order.
  public static let colors = [Color(255, 0, 0), Color(0, 255, 0), Color(0, 0, 255), Color(255, 255, 255)]

  public let width: Int
  public let height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Where each colour is to be seen: in the corners and in the middle of the parts.
  public static func points(width: Int, height: Int) -> [[(x: Int, y: Int)]] {
    [0, 1].flatMap { row in
      [0, 1].map { column in
        [
          (column * (width - 1), row * (height - 1)),
          (width / 4 + column * (width / 2), height / 4 + row * (height / 2)),
        ]
      }
    }
  }

  /// Even, so that no chroma sample belongs to two parts.
  private func color(_ x: Int, _ y: Int) -> Color {
    Self.colors[(y < height / 4 * 2 ? 0 : 2) + (x < width / 4 * 2 ? 0 : 1)]
  }

  /// The three planes, rows of which are `stride` bytes apart, padded with `padding`.
  public func planes(
    _ colorimetry: Colorimetry, strides: [Int]? = nil, padding: UInt8 = 0
  ) -> (planes: [[UInt8]], strides: [Int]) {
    let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
    let strides = strides ?? [(width + 3) / 4 * 4, (chromaWidth + 3) / 4 * 4, (chromaWidth + 3) / 4 * 4]
    let planes = (0..<3).map { plane -> [UInt8] in
      let (width, height, step) = plane == 0 ? (width, height, 1) : (chromaWidth, chromaHeight, 2)
      // GStreamer rounds the rows of I420 up to even ones, too.
      let rows = plane == 0 ? chromaHeight * 2 : height
      var bytes = [UInt8](repeating: padding, count: strides[plane] * rows)
      let values = Dictionary(uniqueKeysWithValues: Self.colors.map { ($0, colorimetry.luma($0)[plane]) })
      for y in 0..<height {
        for x in 0..<width { bytes[y * strides[plane] + x] = values[color(x * step, y * step)] ?? 0 }
      }
      return bytes
    }
    return (planes, strides)
  }

  public func caps(_ format: String, _ colorimetry: Colorimetry) -> Caps? {
    Caps(
      "video/x-raw,format=\(format),width=\(width),height=\(height),framerate=25/1,"
        + "colorimetry=(string)\(colorimetry.name)")
  }

  /// The frame as I420; nil when GStreamer cannot start.
  public func i420(
    _ colorimetry: Colorimetry = .bt601, pts: MediaTime? = MediaTime(nanoseconds: 1_000_000_000), quarterTurns: Int = 0
  ) -> VideoFrameBuffer? {
    caps("I420", colorimetry).flatMap { caps in
      planes(colorimetry).planes.flatMap { $0 }.withUnsafeBytes {
        VideoFrameBuffer(
          MediaBuffer(copying: $0, caps: caps, pts: pts, duration: .milliseconds(40), quarterTurns: quarterTurns))
      }
    }
  }

  /// The colours at `points` of an interleaved frame that are not what they should be, as text.
  /// - Parameters:
  ///   - offsets: of red, green and blue within a pixel.
  ///   - turned: quarter turns clockwise that the frame has made.
  public static func mistakes(
    in bytes: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int, pixelStride: Int,
    offsets: [Int] = [0, 1, 2],
    turned: Int = 0, tolerance: Int = 8
  ) -> [String] {
    let order = [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0], [1, 3, 0, 2]][turned]
    return zip(points(width: width, height: height), order).flatMap { points, index in
      points.compactMap { point in
        let pixel = offsets.map { bytes[point.y * stride + point.x * pixelStride + $0] }
        let found = Color(pixel[0], pixel[1], pixel[2])
        return found.isNear(colors[index], within: tolerance) ? nil : "\(point): \(found), not \(colors[index])"
      }
    }
  }
}
