import CGStreamer

/// A raw frame: a view of a `MediaBuffer`, whose memory it keeps alive and does not copy.
public struct VideoFrameBuffer: Sendable {
  /// The layout of a frame's memory, by GStreamer's names.
  public enum PixelFormat: Hashable, Sendable {
    /// Planes Y, U, V; U and V at half width and height.
    case i420
    /// Planes Y and UV interleaved, at half width and height.
    case nv12
    /// Four bytes a pixel.
    case rgba
    /// Four bytes a pixel.
    case bgra
    /// Three bytes a pixel.
    case rgb
    /// One byte a pixel.
    case gray8
    /// Another one of GStreamer's, such as `YUY2`.
    case other(String)
  }

  /// What it is a view of.
  public let media: MediaBuffer
  var info: GstVideoInfo { media.format.video ?? GstVideoInfo() }

  /// Nil when the buffer is not a raw frame.
  public init?(_ media: MediaBuffer) {
    guard media.format.video != nil else { return nil }
    self.media = media
  }

  /// Pixels.
  public var width: Int { Int(info.width) }
  /// Pixels.
  public var height: Int { Int(info.height) }

  /// How the memory is laid out.
  public var pixelFormat: PixelFormat {
    info.finfo.map { PixelFormat($0.pointee.format) } ?? .other("unknown")
  }

  /// One plane of a mapped frame; valid inside the closure of `withPlanes` only.
  public struct Plane {
    /// `stride` bytes for each of `height` rows; the last row may end with its last pixel.
    public let bytes: UnsafeRawBufferPointer
    /// Bytes from one row to the next.
    public let stride: Int
    /// Samples in a row; an interleaved UV pair is one sample.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Bytes from one sample to the next.
    public let pixelStride: Int
  }

  /// The planes of a mapped frame, not to be taken out of the closure that gets them.
  public struct Planes: ~Copyable {
    fileprivate let frame: GstVideoFrame
    /// How many planes there are: 1…4.
    public let count: Int

    /// The plane of that index, nil beyond `count`.
    public subscript(index: Int) -> Plane? {
      guard index >= 0, index < count else { return nil }
      return VideoFrameBuffer.plane(index, of: frame)
    }
  }

  /// Maps the memory, runs `body` with the planes, and unmaps it.
  /// - Returns: nil when the memory cannot be read or is smaller than the format says.
  public func withPlanes<Result>(_ body: (borrowing Planes) throws -> Result) rethrows -> Result? {
    try withFrame { try body(Planes(frame: $0.pointee, count: planeCount)) }
  }

  /// Maps the memory, runs `body`, and unmaps it.
  /// - Returns: nil when the memory cannot be read or is smaller than the format says.
  func withFrame<Result>(_ body: (UnsafePointer<GstVideoFrame>) throws -> Result) rethrows -> Result? {
    var frame = GstVideoFrame()
    var info = info
    // The reference that `media` holds outlives the mapping, so the frame needs none of its own.
    let flags = GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_VIDEO_FRAME_MAP_FLAG_NO_REF.rawValue)
    guard gst_video_frame_map(&frame, &info, media.buffer, flags) != 0 else { return nil }
    defer { gst_video_frame_unmap(&frame) }
    frame.setSize(of: info)
    return try body(&frame)
  }

  private var planeCount: Int { Int(info.finfo?.pointee.n_planes ?? 0) }

  private static func plane(_ index: Int, of frame: GstVideoFrame) -> Plane? {
    guard let format = frame.info.finfo else { return nil }
    let component = componentIndex(ofPlane: index, format.pointee)
    let widthShift = element(component, of: format.pointee.w_sub)
    let heightShift = element(component, of: format.pointee.h_sub)
    let stride = Int(element(index, of: frame.info.stride))
    let pixelStride = Int(element(component, of: format.pointee.pixel_stride))
    let width = scaled(Int(frame.info.width), by: widthShift)
    let height = scaled(Int(frame.info.height), by: heightShift)
    let last = width * pixelStride
    let bytes = UnsafeRawBufferPointer(
      start: element(index, of: frame.data), count: height > 0 ? max(stride * (height - 1) + last, 0) : 0)
    return Plane(bytes: bytes, stride: stride, width: width, height: height, pixelStride: pixelStride)
  }

  /// The first component (Y, U, V, A) that lies in a plane.
  private static func componentIndex(ofPlane plane: Int, _ format: GstVideoFormatInfo) -> Int {
    (0..<Int(format.n_components)).first { Int(element($0, of: format.plane)) == plane } ?? 0
  }

  /// Rounded up, as chroma planes of odd sizes are.
  private static func scaled(_ size: Int, by shift: guint) -> Int {
    let unit = 1 << Int(min(shift, 16))
    return (size + unit - 1) / unit
  }

  /// Element `index` of a C array of four, which Swift sees as a tuple.
  private static func element<Value>(_ index: Int, of tuple: (Value, Value, Value, Value)) -> Value {
    switch index {
    case 0: tuple.0
    case 1: tuple.1
    case 2: tuple.2
    default: tuple.3
    }
  }
}

extension GstVideoFrame {
  /// The size of the frame: when it is mapped, a decoder's own layout may tell that with the padding around it.
  mutating func setSize(of info: GstVideoInfo) { (self.info.width, self.info.height) = (info.width, info.height) }
}
