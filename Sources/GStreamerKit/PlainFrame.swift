import CGStreamer
public import MediaCore

extension MediaBuffer {
  /// A black frame in I420, laid out as GStreamer does (`gst_video_info_set_format`): rows begin at multiples of 4 bytes.
  /// - Parameter isFullRange: whether luma goes from 0 and not from 16; only its samples follow; its caps say 16.
  /// - Returns: nil where GStreamer knows no frame of that size.
  public static func blackFrame(width: Int, height: Int, isFullRange: Bool = false) -> MediaBuffer? {
    var color = FrameColor.black
    if isFullRange { color.luma = 0 }
    return plainFrame(color, width: width, height: height)
  }

  /// A frame of one colour in I420, whose caps say what that means, whatever its size.
  /// - Returns: nil where GStreamer knows no frame of that size.
  public static func plainFrame(_ color: FrameColor, width: Int, height: Int) -> MediaBuffer? {
    guard let caps = Caps.i420(width: width, height: height)?.completingColors else { return nil }
    let rows = (height + 1) / 2
    let luma = (width + 3) / 4 * 4 * rows * 2
    let chroma = ((width + 1) / 2 + 3) / 4 * 4 * rows
    let bytes = [UInt8](unsafeUninitializedCapacity: luma + 2 * chroma) { bytes, count in
      bytes[..<luma].initialize(repeating: color.luma)
      bytes[luma..<(luma + chroma)].initialize(repeating: color.blue)
      bytes[(luma + chroma)...].initialize(repeating: color.red)
      count = luma + 2 * chroma
    }
    return bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: nil) }
  }

  /// A frame of one's own in I420, whose rows stand right behind each other.
  /// - Parameter bytes: the planes Y, U and V, one after the other.
  /// - Returns: nil where GStreamer knows no frame of that size, or there are fewer or more bytes than it has.
  public static func packedI420(
    _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, pts: MediaTime?
  ) -> MediaBuffer? {
    guard let caps = Caps.i420(width: width, height: height) else { return nil }
    let chroma = (width: (width + 1) / 2, height: (height + 1) / 2)
    let (luma, quarter) = (width * height, chroma.width * chroma.height)
    guard bytes.count == luma + 2 * quarter else { return nil }
    let media = MediaBuffer(copying: bytes, caps: caps, pts: pts)
    var offsets: [gsize] = [0, gsize(luma), gsize(luma + quarter), 0]
    var strides: [gint] = [gint(width), gint(chroma.width), gint(chroma.width), 0]
    // The caps alone stand for rows that begin at multiples of four bytes.
    gst_buffer_add_video_meta_full(
      media.buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, guint(width), guint(height), 3, &offsets,
      &strides)
    return media
  }
}

extension Caps {
  /// Nil for a size that GStreamer knows no frame of.
  fileprivate static func i420(width: Int, height: Int) -> Caps? {
    guard (1...16_384).contains(width), (1...16_384).contains(height) else { return nil }
    // Without a word on interlacing a mixer that has just begun refuses it, at times: it asks for what it did not say before.
    return Caps("video/x-raw,format=I420,width=\(width),height=\(height),framerate=0/1,interlace-mode=progressive")
  }
}
