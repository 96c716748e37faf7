import CGStreamer
import CShims
import MediaCore

/// Brings the frames of one stream, one after the other, to the colours of WebRTC, BT.601 of limited range: once for all who
/// encode them. Encode templates do the same to what comes otherwise, each by itself and in ten times the time.
public final class ColorConverter: Sendable {
  private struct State {
    var source: MediaFormat?
    var conversion: ColorConversion?
  }
  private let state = Locked(State())

  /// Nothing is known of the stream yet.
  public init() {}

  /// - Returns: the frame in memory of its own; itself where it has these colours, does not tell its own, or is no frame of
  ///   I420.
  public func convert(_ media: MediaBuffer) -> MediaBuffer {
    let conversion = state.withLock { state in
      if state.source !== media.format {
        if state.source?.caps != media.caps { state.conversion = ColorConversion(from: media.format) }
        state.source = media.format
      }
      return state.conversion
    }
    return conversion?.convert(media) ?? media
  }
}

/// Of one format.
///
/// `@unchecked Sendable`: nothing is written after it was made, and the allocator locks by itself.
private final class ColorConversion: @unchecked Sendable {
  private let change: shim_color_change
  private let source: GstVideoInfo
  private let target: GstVideoInfo
  private let format: MediaFormat
  private let allocator: UnsafeMutablePointer<GstAllocator>

  /// Nil where there is nothing to do.
  init?(from format: MediaFormat) {
    guard let source = format.video, source.finfo?.pointee.format == GST_VIDEO_FORMAT_I420,
      source.interlace_mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE,
      let change = LumaChroma(source.colorimetry)?.change(to: .bt601)
    else { return nil }
    let told = MediaFormat(format.caps.merging(Caps("video/x-raw,colorimetry=bt601")))
    guard let target = told.video, let allocator = shim_frame_allocator_new() else { return nil }
    (self.change, self.source, self.target) = (change, source, target)
    (self.format, self.allocator) = (told, allocator)
  }

  deinit { gst_object_unref(allocator) }

  /// - Returns: nil when the memory cannot be read.
  func convert(_ media: MediaBuffer) -> MediaBuffer? {
    guard let buffer = newBuffer(target.size, of: allocator) else { return nil }
    defer { gst_buffer_unref(buffer) }
    guard write(media, into: buffer) else { return nil }
    (buffer.pointee.pts, buffer.pointee.dts) = (media.pts.clockTime, media.dts.clockTime)
    buffer.pointee.duration = media.buffer.pointee.duration
    return MediaBuffer(retaining: buffer, format: format, shift: 0, quarterTurns: media.quarterTurns)
  }

  private func write(_ media: MediaBuffer, into buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var (from, to, source, target, change) = (GstVideoFrame(), GstVideoFrame(), source, target, change)
    // Both buffers outlive the mappings.
    let unreferenced = GST_VIDEO_FRAME_MAP_FLAG_NO_REF.rawValue
    let reading = GstMapFlags(rawValue: GST_MAP_READ.rawValue | unreferenced)
    guard gst_video_frame_map(&from, &source, media.buffer, reading) != 0 else { return false }
    defer { gst_video_frame_unmap(&from) }
    let writing = GstMapFlags(rawValue: GST_MAP_WRITE.rawValue | unreferenced)
    guard gst_video_frame_map(&to, &target, buffer, writing) != 0 else { return false }
    defer { gst_video_frame_unmap(&to) }
    // There is no less than the frame.
    guard from.info.width >= target.width, from.info.height >= target.height else { return false }
    from.setSize(of: target)
    shim_change_colors(&change, &from, &to)
    return true
  }
}
