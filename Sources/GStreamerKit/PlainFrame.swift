extension MediaBuffer {
  /// A black frame in I420, laid out as GStreamer does (`gst_video_info_set_format`): rows begin at multiples of 4 bytes.
  /// - Parameter isFullRange: whether luma goes from 0 and not from 16; only its samples follow, nothing in its caps.
  /// - Returns: nil where GStreamer knows no frame of that size.
  public static func blackFrame(width: Int, height: Int, isFullRange: Bool = false) -> MediaBuffer? {
    var color = FrameColor.black
    if isFullRange { color.luma = 0 }
    return plainFrame(color, width: width, height: height)
  }

  /// A frame of one colour in I420.
  /// - Returns: nil where GStreamer knows no frame of that size.
  public static func plainFrame(_ color: FrameColor, width: Int, height: Int) -> MediaBuffer? {
    guard (1...16_384).contains(width), (1...16_384).contains(height),
      let caps = Caps("video/x-raw,format=I420,width=\(width),height=\(height),framerate=0/1")
    else { return nil }
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
}
