import CGStreamer

/// Brings frames of one stream, one after the other, upright into one layout and size, and keeps what it has worked out
/// for as long as they come alike.
public final class FrameFitter {
  private let pixelFormat: VideoFrameBuffer.PixelFormat
  /// Pixels of what is made, upright.
  private let size: (width: Int, height: Int)
  private var scaler: FrameScaler?

  /// - Parameters:
  ///   - width: pixels of what is made, when it has been turned upright; likewise `height`.
  public init(to pixelFormat: VideoFrameBuffer.PixelFormat, width: Int, height: Int) {
    (self.pixelFormat, size) = (pixelFormat, (width, height))
  }

  /// The whole frame, in its shape, with black borders where the size has another one. It is still to be turned, as far
  /// as it was before: `packed()` does that.
  /// - Throws: as `VideoFrameBuffer.converted`.
  public func fit(_ frame: VideoFrameBuffer) throws(PipelineError) -> VideoFrameBuffer {
    let isAcross = frame.media.quarterTurns % 2 == 1
    let (width, height) = isAcross ? (size.height, size.width) : size
    let isSized = frame.width == width && frame.height == height
    if isSized, frame.pixelFormat == pixelFormat || pixelFormat == .gray8 {
      return try frame.converted(to: pixelFormat)
    }
    // Gray has a range of its own, and is made of a frame that has its size.
    let middle = pixelFormat == .gray8 ? .rgba : pixelFormat
    if scaler?.fits(frame, width, height) != true {
      scaler = try FrameScaler(from: frame, to: middle, width: width, height: height)
    }
    guard let scaled = scaler?.scale(frame) else {
      throw PipelineError(.format, "the frame cannot be read as \(frame.media.caps)")
    }
    return try scaled.converted(to: pixelFormat)
  }
}

/// GStreamer's converter from one layout and size to another, with borders.
private final class FrameScaler {
  private var source: GstVideoInfo
  private var target: GstVideoInfo
  private let converter: OpaquePointer
  private let format: MediaFormat

  init(
    from frame: VideoFrameBuffer, to pixelFormat: VideoFrameBuffer.PixelFormat, width: Int, height: Int
  ) throws(PipelineError) {
    (source, target) = try frame.infos(to: pixelFormat, width: width, height: height)
    let place = FittedPlace(of: (frame.width, frame.height), in: (width, height))
    let options = gst_structure_new_from_string(place.options)
    // Takes `options` over.
    guard let converter = gst_video_converter_new(&source, &target, options), let caps = gst_video_info_to_caps(&target)
    else { throw PipelineError(.format, "no frame can be brought from \(frame.media.caps) to \(width)x\(height)") }
    self.converter = converter
    format = MediaFormat(Caps(adopting: caps))
  }

  deinit { gst_video_converter_free(converter) }

  func fits(_ frame: VideoFrameBuffer, _ width: Int, _ height: Int) -> Bool {
    guard Int(target.width) == width, Int(target.height) == height else { return false }
    return frame.hasInfo(source)
  }

  /// - Returns: nil when the memory cannot be read.
  func scale(_ frame: VideoFrameBuffer) -> VideoFrameBuffer? {
    guard let buffer = newBuffer(target.size) else { return nil }
    defer { gst_buffer_unref(buffer) }
    guard frame.convert(by: converter, &source, into: buffer, &target) else { return nil }
    buffer.pointee.pts = frame.media.pts.clockTime
    return VideoFrameBuffer(
      MediaBuffer(retaining: buffer, format: format, shift: 0, quarterTurns: frame.media.quarterTurns))
  }
}

/// Where a frame lies in a larger or smaller one of another shape: as large as it fits, in the middle.
struct FittedPlace: Equatable {
  var x = 0
  var y = 0
  var width: Int
  var height: Int

  /// On even pixels, where chroma is.
  init(of size: (width: Int, height: Int), in room: (width: Int, height: Int)) {
    (width, height) = (room.width, room.height)
    if size.width * room.height > room.width * size.height {
      height = Self.even(room.width * size.height, by: size.width, atMost: room.height)
      y = (room.height - height) / 4 * 2
    } else {
      width = Self.even(room.height * size.width, by: size.height, atMost: room.width)
      x = (room.width - width) / 4 * 2
    }
  }

  private static func even(_ dividend: Int, by divisor: Int, atMost most: Int) -> Int {
    let nearest = (dividend + divisor) / (2 * max(divisor, 1)) * 2
    // A size that is odd is filled to its last pixel.
    return nearest + 1 >= most ? most : max(nearest, 2)
  }

  var options: String {
    let prefix = "GstVideoConverter.dest-"
    return "options, \(prefix)x=(int)\(x), \(prefix)y=(int)\(y), \(prefix)width=(int)\(width), "
      + "\(prefix)height=(int)\(height)"
  }
}
