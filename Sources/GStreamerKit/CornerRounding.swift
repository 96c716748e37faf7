import CGStreamer
import CShims
import MediaCore

/// How the corners of frames are rounded that a mixer lays over a backdrop: beside the curves the backdrop is seen. For
/// frames of I420, where they are if nobody else has them.
public final class CornerRounding: Sendable {
  /// A place of the mixed frame, in pixels from its upper left corner; a smaller frame is in the middle of it.
  public struct Place: Equatable, Sendable {
    let x, y, width, height: Int

    /// In pixels.
    public init(x: Int, y: Int, width: Int, height: Int) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
  }

  private let radius: Int
  private let backdrop = Locked<VideoFrameBuffer?>(nil)
  /// The newest one.
  private let mask: Locked<CornerMask>

  /// - Parameter radius: pixels; of small frames less, so that no corner is larger than a quarter.
  public init(radius: Int) {
    self.radius = radius
    mask = Locked(CornerMask(radius: radius))
  }

  /// What is seen beside the curves, as large as the mixed frame; black for nil, and for another format than I420.
  public func show(backdrop frame: VideoFrameBuffer?) {
    backdrop.withLock { $0 = frame?.pixelFormat == .i420 ? frame : nil }
  }

  /// - Parameter frame: I420, mapped for writing.
  fileprivate func round(_ frame: inout GstVideoFrame, at place: Place) {
    let size = (width: Int(frame.info.width), height: Int(frame.info.height))
    let mask = mask(min(radius, size.width / 2, size.height / 2))
    let (x, y) = (place.x + (place.width - size.width) / 2, place.y + (place.height - size.height) / 2)
    mask.withShares { shares in
      func lay(_ under: UnsafePointer<GstVideoFrame>?) { shim_round_corners(&frame, shares, under, Int32(x), Int32(y)) }
      if backdrop.withLock({ $0 })?.withFrame(lay) == nil { lay(nil) }
    }
  }

  private func mask(_ radius: Int) -> CornerMask {
    mask.withLock { mask in
      if mask.radius != radius { mask = CornerMask(radius: radius) }
      return mask
    }
  }
}

/// How much of a frame is seen in the pixels of a rounded corner. Pure.
struct CornerMask: Sendable {
  let radius: Int
  private let luma: [UInt8]
  /// Of a quarter of the pixels.
  private let chroma: [UInt8]

  init(radius: Int) {
    self.radius = radius
    luma = Self.shares(radius, of: Double(radius))
    // Chroma of a half is that of a whole pixel beyond the curve: none is seen there.
    chroma = Self.shares((radius + 1) / 2, of: Double(radius) / 2)
  }

  /// Of the upper left corner, 0 to 255, row by row: how far the middle of a pixel is from the curve.
  private static func shares(_ count: Int, of radius: Double) -> [UInt8] {
    (0..<count * count).map { index in
      let (x, y) = (radius - Double(index % count) - 0.5, radius - Double(index / count) - 0.5)
      let inside = radius - (x * x + y * y).squareRoot() + 0.5
      return UInt8(max(0, min(1, inside)) * 255)
    }
  }

  /// Of luma in the pixel of a row and column of the upper left corner.
  subscript(row: Int, column: Int) -> UInt8 { luma[row * radius + column] }

  func withShares(_ body: (UnsafePointer<shim_corner_mask>) -> Void) {
    luma.withUnsafeBufferPointer { luma in
      chroma.withUnsafeBufferPointer { chroma in
        var shares = shim_corner_mask(
          luma: luma.baseAddress, luma_radius: Int32(radius), chroma: chroma.baseAddress,
          chroma_radius: Int32((radius + 1) / 2))
        body(&shares)
      }
    }
  }
}

extension MixerBranch {
  /// Rounds the corners of what comes out of the branch. Call it before `start`, once.
  /// - Parameters:
  ///   - place: where it is laid; nil where corners stay as they are. Called on the streaming thread.
  ///   - onMisfit: called there, once, with the format of what comes out where that is not I420.
  public func round(
    _ rounding: CornerRounding, at place: @escaping @Sendable () -> CornerRounding.Place?,
    onMisfit: @escaping @Sendable (Caps) -> Void
  ) {
    var isTold = false
    changeOutput { buffer, format in
      guard let place = place(), var info = format.video else { return buffer }
      guard info.finfo?.pointee.format == GST_VIDEO_FORMAT_I420 else {
        if !isTold { onMisfit(format.caps) }
        isTold = true
        return buffer
      }
      guard let writable = shim_buffer_make_writable(buffer) else { return buffer }
      var frame = GstVideoFrame()
      let flags = GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)
      guard gst_video_frame_map(&frame, &info, writable, flags) != 0 else { return writable }
      frame.setSize(of: info)
      rounding.round(&frame, at: place)
      gst_video_frame_unmap(&frame)
      return writable
    }
  }

  /// Hands on what comes out of the branch, on the streaming thread. Call it before `start`, once.
  public func watchFrames(_ body: @escaping @Sendable (VideoFrameBuffer) -> Void) {
    changeOutput { buffer, format in
      let media = MediaBuffer(retaining: buffer, format: format, shift: 0, quarterTurns: 0)
      VideoFrameBuffer(media).map(body)
      return buffer
    }
  }

  /// - Parameter change: takes over a reference to a buffer, and gives one back. For as long as the mixer's input is there.
  private func changeOutput(
    _ change: @escaping (UnsafeMutablePointer<GstBuffer>, MediaFormat) -> UnsafeMutablePointer<GstBuffer>
  ) {
    // Only the input's streaming thread reads and changes it.
    var format: MediaFormat?
    input.addProbe(
      GST_PAD_PROBE_TYPE_BUFFER,
      PadProbe { [pad = input.pointer] info in
        guard let data = info.pointee.data, let caps = gst_pad_get_current_caps(pad).map(Caps.init(adopting:)) else {
          return GST_PAD_PROBE_OK
        }
        let now = format.flatMap { $0.caps == caps ? $0 : nil } ?? MediaFormat(caps)
        format = now
        info.pointee.data = UnsafeMutableRawPointer(change(data.assumingMemoryBound(to: GstBuffer.self), now))
        return GST_PAD_PROBE_OK
      })
  }
}
