public import Foundation
public import GStreamerKit
import PipelineTemplates

// Images for those who want other pixels than the decoder's. Nothing here is done unless it is asked for, and all of
// it may be called on any thread, within `render(frame:)` too; it takes the caller's time.
extension VideoFrame {
  /// This frame in another pixel format, at another size or both, with the same time and rotation, which is not
  /// applied. It has memory of its own; a frame that is so already is returned as it is.
  ///
  /// | format | planes |
  /// |---|---|
  /// | `i420` | Y, then U and V at half width and height, rounded up |
  /// | `nv12` | Y, then U and V side by side at half width and height, rounded up |
  /// | `rgba`, `bgra` | one, four bytes a pixel in that order; alpha is 255 |
  /// | `rgb` | one, three bytes a pixel |
  /// | `gray8` | one, a byte a pixel: Rec. 601 luma, black 0, white 255 |
  ///
  /// Rows may end with padding: read `stride` of each plane. Colours are read by the matrix (BT.601 or BT.709) and the
  /// range that the stream tells, and are right to within a few of 255 levels.
  /// - Parameters:
  ///   - format: a format above, or `.other` with a name of GStreamer's, such as "YUY2".
  ///   - size: pixels; nil for the frame's own. One of another shape stretches the image.
  /// - Throws: `LiveKitError` with code `invalidParameter` for a format that GStreamer does not know or a size beyond
  ///   1…65 535, with code `pipeline` when the image's memory cannot be read.
  public func converted(to format: PixelFormat, size: Dimensions? = nil) throws(LiveKitError) -> VideoFrame {
    do {
      let buffer = try buffer.converted(
        to: format, width: size.map { Int($0.width) }, height: size.map { Int($0.height) })
      return VideoFrame(buffer: buffer, time: time)
    } catch {
      let isReadable = buffer.withPlanes { _ in true } ?? false
      throw LiveKitError(isReadable ? .invalidParameter : .pipeline, error.message)
    }
  }

  /// This frame as a PNG file, upright: `rotation` is applied. RGB with 8 bits a channel; with alpha, or gray, when the
  /// frame is so.
  ///
  /// Takes tens of milliseconds for a large image, and blocks the caller for as long.
  /// - Throws: `LiveKitError` with code `missingElement` when GStreamer's encoder is not installed (the message names
  ///   its Debian package), with code `pipeline` when the image cannot be read or encoded.
  public func pngData() throws(LiveKitError) -> Data { try imageFile(.png) }

  /// This frame as a JPEG file (JFIF, 4:2:0), upright: `rotation` is applied.
  ///
  /// Takes some milliseconds for a large image, and blocks the caller for as long.
  /// - Parameter quality: 1…100 on libjpeg's scale; more is larger and better.
  /// - Throws: `LiveKitError` with code `invalidParameter` for another quality, and otherwise as `pngData()`.
  public func jpegData(quality: Int = 85) throws(LiveKitError) -> Data {
    guard (1...100).contains(quality) else {
      throw LiveKitError(.invalidParameter, "the quality of a JPEG is 1…100, not \(quality)")
    }
    return try imageFile(.jpeg(quality: quality))
  }

  private func imageFile(_ format: StillImageFormat) throws(LiveKitError) -> Data {
    do {
      return try buffer.encoded(as: format).withUnsafeBytes { Data($0) }
    } catch {
      throw LiveKitError(encodingImage: error)
    }
  }
}

extension LiveKitError {
  init(encodingImage error: PipelineError) {
    guard case .missingElements(let names) = error.kind else {
      self.init(.pipeline, "the image cannot be encoded: \(error)")
      return
    }
    let lines = names.map { "the GStreamer element '\($0)' is missing; \(ElementPackage.advice(forElement: $0))" }
    self.init(.missingElement, lines.joined(separator: "; "))
  }
}
