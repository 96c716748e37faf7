import MediaBridge

/// How `frames` writes a frame.
enum RawFormat: String, CaseIterable, Sendable {
  case i420, nv12, rgb24, bgr24, gray8, y4m, png, jpeg

  /// Nil for files of images.
  var pixelFormat: VideoFrame.PixelFormat? {
    switch self {
    case .i420, .y4m: .i420
    case .nv12: .nv12
    case .rgb24: .rgb
    case .bgr24: .other("BGR")
    case .gray8: .gray8
    case .png, .jpeg: nil
    }
  }

  var isImage: Bool { pixelFormat == nil }
  var suffix: String { self == .jpeg ? "jpg" : rawValue }

  /// As `--framed` calls it.
  var fourCharacters: String {
    switch self {
    case .i420, .nv12, .png, .jpeg: rawValue
    case .rgb24: "rgb"
    case .bgr24: "bgr"
    case .gray8: "gray"
    case .y4m: "y4m"
    }
  }

  /// What stands in front of all frames.
  func header(_ size: Dimensions, fps: Int) -> [UInt8] {
    guard self == .y4m else { return [] }
    return Array("YUV4MPEG2 W\(size.width) H\(size.height) F\(fps):1 Ip A1:1 C420mpeg2\n".utf8)
  }

  /// What caps begin with.
  static let mediaType = "video/x-raw"

  /// In GStreamer's words.
  func caps(_ size: Dimensions, fps: Int, _ colorimetry: String?) -> String {
    let name =
      switch self {
      case .nv12: "NV12"
      case .rgb24: "RGB"
      case .bgr24: "BGR"
      case .gray8: "GRAY8"
      default: "I420"
      }
    let colors = colorimetry.map { ",colorimetry=\($0)" } ?? ""
    return "\(Self.mediaType),format=\(name),width=\(size.width),height=\(size.height),framerate=\(fps)/1\(colors)\n"
  }

  /// What stands in front of each frame.
  var frameHeader: [UInt8] { self == .y4m ? Array("FRAME\n".utf8) : [] }
}
