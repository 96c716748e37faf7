import CGStreamer

extension Caps {
  /// The same, with BT.601 where YUV frames, raw, of VP8 or of H.264, leave open what their colours mean.
  ///
  /// It is what cameras and screens are converted to for WebRTC, in whatever codec and layer. GStreamer takes frames above
  /// 576 lines for BT.709, so that a camera's large layer would differ from its small ones, and converting it would cost
  /// as much as decoding it. Players do so, too, unless a file tells them.
  public var completingColors: Caps {
    leavesColorsOpen ? merging(Caps("\(mediaType),colorimetry=bt601")) : self
  }

  private var leavesColorsOpen: Bool {
    if Self.leavingOpen.contains(mediaType) { return string("colorimetry") == nil }
    guard let info = MediaFormat(self).video, let format = info.finfo, format.pointee.isYUV else { return false }
    return string("colorimetry") == nil || info.colorimetry.isOpenBT601
  }

  /// VP8 has no word for it, and encoders of H.264 in browsers leave theirs out. VP9 and AV1 say it themselves.
  private static let leavingOpen: Set<String> = ["video/x-vp8", "video/x-h264"]
}

extension GstVideoFormatInfo {
  fileprivate var isYUV: Bool { flags.rawValue & GST_VIDEO_FORMAT_FLAG_YUV.rawValue != 0 }
}

extension GstVideoColorimetry {
  /// As a decoder of VP8 says it: the matrix and the range, and no more.
  fileprivate var isOpenBT601: Bool {
    matrix == GST_VIDEO_COLOR_MATRIX_BT601 && range == GST_VIDEO_COLOR_RANGE_16_235
      && transfer == GST_VIDEO_TRANSFER_UNKNOWN && primaries == GST_VIDEO_COLOR_PRIMARIES_UNKNOWN
  }
}
