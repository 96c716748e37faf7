import CGStreamer

extension VideoFrameBuffer {
  /// The frame in another layout, at another size or both, in memory of its own; itself when it is so already.
  ///
  /// Luma and chroma are read as the frame's caps say (BT.601 or BT.709, limited or full range). What comes out has
  /// the same meaning when it is luma and chroma again; `gray8` is the Rec. 601 luma of the RGB frame, 0 for black
  /// and 255 for white. A size of another shape stretches the frame.
  ///
  /// May be called on any thread; nothing is shared between calls.
  /// - Parameters:
  ///   - width: pixels; nil for the frame's own, likewise `height`.
  /// - Throws: `PipelineError` of kind `format` for a layout or a size that no frame has, and when the memory cannot
  ///   be read.
  public func converted(
    to pixelFormat: PixelFormat, width: Int? = nil, height: Int? = nil
  ) throws(PipelineError) -> VideoFrameBuffer {
    let (width, height) = (width ?? self.width, height ?? self.height)
    guard let format = pixelFormat.known else {
      throw PipelineError(.format, "no frame can be converted to \(pixelFormat)")
    }
    if format == info.finfo?.pointee.format, width == self.width, height == self.height { return self }
    let source = info.withKnownRange
    guard let target = source.converted(to: format, width: width, height: height) else {
      throw PipelineError(.format, "no frame can have \(width)x\(height) pixels")
    }
    // GstVideoConverter copies luma as it is where the ranges differ, unless there is RGB in between.
    guard source.isRGB || target.isRGB || source.colorimetry.range == target.colorimetry.range else {
      return try converted(to: .rgba, width: width, height: height).converted(to: pixelFormat)
    }
    return try converted(from: source, to: target)
  }

  /// Whether its pixels can be transparent.
  var hasAlpha: Bool { info.has(GST_VIDEO_FORMAT_FLAG_ALPHA) }

  private func converted(
    from source: GstVideoInfo, to target: GstVideoInfo
  ) throws(PipelineError) -> VideoFrameBuffer {
    var (source, target) = (source, target)
    guard let buffer = newBuffer(target.size) else {
      throw PipelineError(.format, "no memory for a frame of \(target.size) bytes")
    }
    defer { gst_buffer_unref(buffer) }
    guard Self.convert(media.buffer, &source, into: buffer, &target), let caps = gst_video_info_to_caps(&target) else {
      throw PipelineError(.format, "the frame cannot be read as \(media.caps)")
    }
    buffer.pointee.pts = media.pts.clockTime
    buffer.pointee.duration = media.buffer.pointee.duration
    let converted = MediaBuffer(
      retaining: buffer, format: MediaFormat(Caps(adopting: caps)), shift: 0, quarterTurns: media.quarterTurns)
    guard let frame = VideoFrameBuffer(converted) else {
      throw PipelineError(.format, "no raw frame: \(converted.caps)")
    }
    return frame
  }

  private static func convert(
    _ input: UnsafeMutablePointer<GstBuffer>, _ source: inout GstVideoInfo,
    into output: UnsafeMutablePointer<GstBuffer>, _ target: inout GstVideoInfo
  ) -> Bool {
    guard let converter = gst_video_converter_new(&source, &target, nil) else { return false }
    defer { gst_video_converter_free(converter) }
    return run(converter, input, &source, output, &target)
  }

  private static func run(
    _ converter: OpaquePointer, _ input: UnsafeMutablePointer<GstBuffer>, _ source: inout GstVideoInfo,
    _ output: UnsafeMutablePointer<GstBuffer>, _ target: inout GstVideoInfo
  ) -> Bool {
    var (from, to) = (GstVideoFrame(), GstVideoFrame())
    // The callers hold references that outlive the mappings.
    let unreferenced = GST_VIDEO_FRAME_MAP_FLAG_NO_REF.rawValue
    let reading = GstMapFlags(rawValue: GST_MAP_READ.rawValue | unreferenced)
    guard gst_video_frame_map(&from, &source, input, reading) != 0 else { return false }
    defer { gst_video_frame_unmap(&from) }
    let writing = GstMapFlags(rawValue: GST_MAP_WRITE.rawValue | unreferenced)
    guard gst_video_frame_map(&to, &target, output, writing) != 0 else { return false }
    defer { gst_video_frame_unmap(&to) }
    gst_video_converter_frame(converter, &from, &to)
    return true
  }
}

// For a converter that serves many frames.
extension VideoFrameBuffer {
  /// What such a converter is made of: the layout of this frame, and that of the ones it makes.
  /// - Throws: for a layout or a size that no frame has.
  func infos(
    to pixelFormat: PixelFormat, width: Int, height: Int
  ) throws(PipelineError) -> (source: GstVideoInfo, target: GstVideoInfo) {
    guard let format = pixelFormat.known else {
      throw PipelineError(.format, "no frame can be converted to \(pixelFormat)")
    }
    let source = info.withKnownRange
    guard let target = source.converted(to: format, width: width, height: height) else {
      throw PipelineError(.format, "no frame can have \(width)x\(height) pixels")
    }
    return (source, target)
  }

  /// Whether it is laid out so.
  func hasInfo(_ other: GstVideoInfo) -> Bool {
    var (own, other) = (info.withKnownRange, other)
    return gst_video_info_is_equal(&own, &other) != 0
  }

  /// - Returns: false when the memory cannot be read.
  func convert(
    by converter: OpaquePointer, _ source: inout GstVideoInfo, into output: UnsafeMutablePointer<GstBuffer>,
    _ target: inout GstVideoInfo
  ) -> Bool { Self.run(converter, media.buffer, &source, output, &target) }
}

extension GstVideoInfo {
  /// What JPEG can hold, too; it keeps the size of a frame in bytes within bounds.
  private static let sizes = 1...65_535

  fileprivate func has(_ flag: GstVideoFormatFlags) -> Bool {
    (finfo?.pointee.flags.rawValue ?? 0) & flag.rawValue != 0
  }
  fileprivate var isRGB: Bool { has(GST_VIDEO_FORMAT_FLAG_RGB) }

  /// Luma and chroma that do not tell their range have the one of all video. A matrix is always told: GStreamer takes
  /// the one that is usual at the size.
  fileprivate var withKnownRange: GstVideoInfo {
    var info = self
    if has(GST_VIDEO_FORMAT_FLAG_YUV), colorimetry.range == GST_VIDEO_COLOR_RANGE_UNKNOWN {
      info.colorimetry.range = GST_VIDEO_COLOR_RANGE_16_235
    }
    return info
  }

  /// The description of this frame in another layout; nil for a size that is none.
  fileprivate func converted(to format: GstVideoFormat, width: Int, height: Int) -> GstVideoInfo? {
    guard Self.sizes.contains(width), Self.sizes.contains(height) else { return nil }
    var target = GstVideoInfo()
    let isSet = gst_video_info_set_interlaced_format(&target, format, interlace_mode, guint(width), guint(height))
    guard isSet != 0 else { return nil }
    // The converter takes no other rate.
    (target.fps_n, target.fps_d) = (fps_n, fps_d)
    if has(GST_VIDEO_FORMAT_FLAG_YUV), target.has(GST_VIDEO_FORMAT_FLAG_YUV) {
      (target.colorimetry, target.chroma_site) = (colorimetry, chroma_site)
    }
    if target.has(GST_VIDEO_FORMAT_FLAG_GRAY) {
      target.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255
      target.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_BT601
    }
    return target
  }
}
