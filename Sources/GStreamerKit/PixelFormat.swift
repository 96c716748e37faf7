import CGStreamer

extension VideoFrameBuffer.PixelFormat {
  init(_ format: GstVideoFormat) {
    switch format {
    case GST_VIDEO_FORMAT_I420: self = .i420
    case GST_VIDEO_FORMAT_NV12: self = .nv12
    case GST_VIDEO_FORMAT_RGBA: self = .rgba
    case GST_VIDEO_FORMAT_BGRA: self = .bgra
    case GST_VIDEO_FORMAT_RGB: self = .rgb
    case GST_VIDEO_FORMAT_GRAY8: self = .gray8
    default: self = .other(gst_video_format_to_string(format).map { String(cString: $0) } ?? "unknown")
    }
  }

  /// GStreamer's number for it; nil for a name that GStreamer does not know and for one without a layout in memory.
  var known: GstVideoFormat? {
    let format =
      switch self {
      case .i420: GST_VIDEO_FORMAT_I420
      case .nv12: GST_VIDEO_FORMAT_NV12
      case .rgba: GST_VIDEO_FORMAT_RGBA
      case .bgra: GST_VIDEO_FORMAT_BGRA
      case .rgb: GST_VIDEO_FORMAT_RGB
      case .gray8: GST_VIDEO_FORMAT_GRAY8
      case .other(let name): gst_video_format_from_string(name)
      }
    let isKnown = format != GST_VIDEO_FORMAT_UNKNOWN && gst_video_format_get_info(format)?.pointee.pack_func != nil
    return isKnown ? format : nil
  }
}
