import CGStreamer
import MediaCore

/// A format for one image by itself, as files have it.
public enum StillImageFormat: Hashable, Sendable {
  /// Lossless; with alpha or gray where the frame is so.
  case png
  /// - Parameter quality: 0…100 of libjpeg's scale.
  case jpeg(quality: Int)
}

extension VideoFrameBuffer {
  /// The image as the bytes of an image file, upright.
  ///
  /// Blocks its caller while the image is encoded. It may be called on any thread, a streaming thread included: the
  /// pipeline is one of its own, and the caller waits for its sink and not for a loop or another queue.
  /// - Throws: `PipelineError` of kind `missingElements` when GStreamer's encoder is not installed, of kind `format`
  ///   when the memory cannot be read or the format cannot hold an image of that size, and what the encoder reports.
  public func encoded(as format: StillImageFormat) throws(PipelineError) -> MediaBuffer {
    let image = try converted(to: pixelFormat(for: format))
    let turning = media.quarterTurns == 0 ? "" : "videoflip video-direction=auto ! "
    let text = "appsrc name=in ! \(turning)\(Self.encoder(format)) ! appsink name=out sync=false"
    return try Pipeline(description: text, name: "still-image").process(image.media, from: "in", to: "out")
  }

  /// What the encoder is given: JPEG's own luma and chroma are made from RGB, which see `encoder`.
  private func pixelFormat(for format: StillImageFormat) -> PixelFormat {
    if pixelFormat == .gray8 { return .gray8 }
    return format == .png && !hasAlpha ? .rgb : .rgba
  }

  /// JPEG files hold BT.601 in full range by definition (JFIF 1.02), and `jpegenc` stores what it gets.
  private static func encoder(_ format: StillImageFormat) -> String {
    switch format {
    case .png: "pngenc"
    case .jpeg(let quality):
      "videoconvert ! video/x-raw,format=I420,colorimetry=(string)1:4:0:0,chroma-site=jpeg ! jpegenc quality=\(quality)"
    }
  }
}
