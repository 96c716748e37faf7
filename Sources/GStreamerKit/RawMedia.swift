import CGStreamer
import CShims

/// A decoded picture in the decoder's own memory.
///
/// `@unchecked Sendable`: the frame is mapped for reading only, and the media buffer keeps its memory.
public final class VideoFrameBuffer: @unchecked Sendable {
  /// One plane while a closure looks at it.
  public struct Plane {
    public let bytes: UnsafeRawBufferPointer
    /// Bytes from one line to the next.
    public let stride: Int
    public let height: Int
  }

  private let media: MediaBuffer
  private var frame = GstVideoFrame()
  public let width: Int
  public let height: Int
  /// GStreamer's name of the layout, such as `I420`.
  public let format: String

  /// nil when the buffer is not a raw picture or cannot be mapped.
  public init?(_ media: MediaBuffer) {
    var info = GstVideoInfo()
    guard let caps = gst_sample_get_caps(media.sample), gst_video_info_from_caps(&info, caps) != 0,
      shim_frame_map(&frame, &info, media.buffer) != 0
    else { return nil }
    self.media = media
    width = Int(info.width)
    height = Int(info.height)
    format = String(cString: gst_video_format_to_string(info.finfo.pointee.format))
  }

  deinit { gst_video_frame_unmap(&frame) }

  public var planeCount: Int { Int(shim_frame_planes(&frame)) }

  /// Plane `index` (Y, U, V for I420) for the time of the call; nil for an index that is not there.
  public func withPlane<R>(_ index: Int, _ body: (Plane) throws -> R) rethrows -> R? {
    guard index >= 0, index < planeCount, let data = shim_frame_plane(&frame, guint(index)) else { return nil }
    let stride = Int(shim_frame_stride(&frame, guint(index)))
    let height = Int(shim_frame_plane_height(&frame, guint(index)))
    return try body(Plane(bytes: .init(start: data, count: stride * height), stride: stride, height: height))
  }
}

/// Decoded sound, channels interleaved.
public final class AudioBuffer: Sendable {
  private let media: MediaBuffer
  public let sampleRate: Int
  public let channels: Int
  /// GStreamer's name of the sample format: `S16LE` or `F32LE`.
  public let format: String
  /// Moments; each has a sample per channel.
  public let frameCount: Int

  /// nil when the buffer is not interleaved S16LE or F32LE.
  public init?(_ media: MediaBuffer) {
    guard let caps = media.caps, let rate = caps.int("rate"), let channels = caps.int("channels"), channels > 0,
      let format = caps.string("format"), let size = ["S16LE": 2, "F32LE": 4][format]
    else { return nil }
    self.media = media
    sampleRate = rate
    self.channels = channels
    self.format = format
    frameCount = media.byteCount / (size * channels)
  }

  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
    try media.withUnsafeBytes(body)
  }
}
