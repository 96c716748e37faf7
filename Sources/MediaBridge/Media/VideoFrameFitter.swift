public import GStreamerKit

/// Brings the frames of one track, in order, into one pixel format and size, for readers that know no other: a pipe, a
/// file of raw frames, a model with an input of one shape.
///
/// For one thread at a time. It keeps what it has worked out while frames come alike, and so costs less than
/// `VideoFrame.converted(to:size:)` for each of them.
public final class VideoFrameFitter {
  private let fitter: FrameFitter

  /// - Parameters:
  ///   - format: as `VideoFrame.converted(to:size:)` takes it.
  ///   - size: pixels of what is made, upright.
  public init(format: VideoFrame.PixelFormat, size: Dimensions) {
    fitter = FrameFitter(to: format, width: Int(size.width), height: Int(size.height))
  }

  /// The whole frame in its shape, with black borders where the size has another one. Its rotation is not applied, but
  /// heeded: when it is, the frame has the size that was asked for.
  /// - Throws: as `VideoFrame.converted(to:size:)`.
  public func fit(_ frame: VideoFrame) throws(LiveKitError) -> VideoFrame {
    do { return VideoFrame(buffer: try fitter.fit(frame.buffer), time: frame.time) } catch {
      let isReadable = frame.buffer.withPlanes { _ in true } ?? false
      throw LiveKitError(isReadable ? .invalidParameter : .pipeline, error.message)
    }
  }
}

extension VideoFrame {
  /// Pixels once `rotation` is applied.
  public var uprightDimensions: Dimensions {
    let isAcross = rotation == ._90 || rotation == ._270
    return isAcross ? Dimensions(width: dimensions.height, height: dimensions.width) : dimensions
  }

  /// The samples upright and without padding, one plane after the other; see `converted(to:size:)` for the planes.
  /// - Returns: nil when the memory cannot be read.
  public func packed() -> [UInt8]? { buffer.packed() }

  /// The same behind a header.
  package func packed(behind header: [UInt8]) -> [UInt8]? { buffer.packed(behind: header) }

  /// Bytes of what `align` writes; nil when the memory cannot be read.
  package var alignedSize: Int? { buffer.packedSize(isAligned: true) }

  /// Writes what `packed` returns, with the padding that GStreamer's elements take for granted where caps alone tell the
  /// layout.
  /// - Returns: false when the frame's memory cannot be read, or this one is too small.
  package func align(in target: UnsafeMutableRawBufferPointer) -> Bool { buffer.pack(into: target, isAligned: true) }

  /// What its colours mean, in GStreamer's words; nil where the caps leave it open.
  package var colorimetry: String? { buffer.media.caps.string("colorimetry") }
}
