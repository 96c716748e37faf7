import Foundation
import GStreamerKit
import MediaBridge
import MediaPipelines

/// What is seen of a composite besides the tracks.
public struct CompositeScenery: Hashable, Sendable {
  /// What is seen where no tile is, and beside frames of another shape than their tile's.
  public enum Background: Hashable, Sendable {
    /// `0xRRGGBB`.
    case color(UInt32)
    /// A PNG or JPEG, as large as covers the frame.
    case image(file: String)
  }

  /// An image that stays above all tiles.
  public struct Logo: Hashable, Sendable {
    /// Of the frame.
    public enum Corner: String, CaseIterable, Sendable {
      /// The upper left one.
      case topLeft = "top-left"
      /// The upper right one.
      case topRight = "top-right"
      /// The lower left one.
      case bottomLeft = "bottom-left"
      /// The lower right one.
      case bottomRight = "bottom-right"
    }

    /// A PNG or JPEG; as large as it is, and at most a quarter of the frame's width and height.
    public var file: String
    /// Where it is seen.
    public var corner: Corner
    /// From 0, invisible, to 1.
    public var opacity: Double

    /// - Parameter opacity: from 0, invisible, to 1.
    public init(file: String, corner: Corner = .topRight, opacity: Double = 1) {
      (self.file, self.corner, self.opacity) = (file, corner, opacity)
    }
  }

  /// Pixels between tiles and around them, an even number; one tile alone has the whole frame.
  public var gap: Int
  /// Pixels by which the corners of tiles are rounded, an even number; beside them the background is seen. A tile that has
  /// the whole frame, or lies over another one, keeps its corners.
  public var cornerRadius: Int
  /// Where no tile is.
  public var background: Background
  /// None by default.
  public var logo: Logo?

  /// As the properties say.
  public init(gap: Int = 0, cornerRadius: Int = 0, background: Background = .color(0), logo: Logo? = nil) {
    (self.gap, self.cornerRadius, self.background, self.logo) = (gap, cornerRadius, background, logo)
  }
}

extension CompositeScenery {
  /// - Throws: what cannot be seen in a frame of that size.
  func check(_ size: Dimensions) throws(LiveKitError) {
    try Self.check(gap, "a gap", upTo: size.shorterSide / 16, size)
    try Self.check(cornerRadius, "corners with a radius", upTo: size.shorterSide / 8, size)
    if let logo, !(0...1).contains(logo.opacity) {
      throw LiveKitError(.invalidParameter, "an opacity of \(logo.opacity): give 0 to 1, such as 0.5")
    }
    _ = try background.frame(PixelSize(size))
    _ = try logoPlace(PixelSize(size))
  }

  private static func check(
    _ pixels: Int, _ what: String, upTo largest: Int, _ size: Dimensions
  ) throws(LiveKitError) {
    guard (0...largest).contains(pixels), pixels.isMultiple(of: 2) else {
      throw LiveKitError(
        .invalidParameter, "\(what) of \(pixels) pixels: give an even number from 0 to \(largest / 2 * 2) for \(size)")
    }
  }

  /// Where the logo is seen; nil where there is none.
  func logoPlace(_ size: PixelSize) throws(LiveKitError) -> TilePlace? {
    guard let logo else { return nil }
    let image = try Self.image(logo.file, "--logo")
    return logo.place(of: PixelSize(width: image.width, height: image.height), in: size)
  }

  fileprivate static func image(_ file: String, _ option: String) throws(LiveKitError) -> VideoFrameBuffer {
    do { return try VideoFrameBuffer(imageFile: file) } catch {
      throw LiveKitError(.invalidParameter, "\(option): \(error.message)", underlying: error)
    }
  }
}

extension Dimensions {
  fileprivate var shorterSide: Int { Int(min(width, height)) }
}

extension CompositeScenery.Background {
  /// To be laid under the tiles, an image as large as it is; nil where there is no memory for it.
  func frame(_ size: PixelSize) throws(LiveKitError) -> VideoFrameBuffer? {
    switch self {
    case .color(let rgb):
      MediaBuffer.plainFrame(FrameColor(rgb: rgb), width: size.width, height: size.height)
        .flatMap(VideoFrameBuffer.init)
    case .image(let file): try CompositeScenery.image(file, "--background")
    }
  }
}

extension CompositeScenery.Logo {
  /// Pure.
  func place(of image: PixelSize, in size: PixelSize) -> TilePlace {
    let limit = PixelSize(width: size.width / 4, height: size.height / 4)
    let isLarge = image.width > limit.width || image.height > limit.height
    let shown = isLarge ? image.contained(in: limit) : image
    let margin = PixelSize.even(size.height, over: 40)
    return TilePlace(
      x: [.topLeft, .bottomLeft].contains(corner) ? margin : size.width - margin - shown.width,
      y: [.topLeft, .topRight].contains(corner) ? margin : size.height - margin - shown.height,
      width: shown.width, height: shown.height)
  }
}
