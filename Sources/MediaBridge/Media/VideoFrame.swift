public import GStreamerKit
public import MediaCore

/// A turn clockwise, in degrees.
public enum VideoRotation: Int, Sendable {
  /// Upright as it is.
  case _0 = 0
  /// To be turned a quarter clockwise.
  case _90 = 90
  /// Upside down.
  case _180 = 180
  /// To be turned a quarter counter-clockwise.
  case _270 = 270
}

/// One decoded frame. Its planes are the decoder's own memory, which stays alive as long as the frame does.
public struct VideoFrame: Sendable {
  /// How the planes are laid out: `i420`, `nv12`, `rgba` …
  public typealias PixelFormat = VideoFrameBuffer.PixelFormat

  /// The frame's planes; reached only through closures, so that no pointer outlives the frame.
  public let buffer: VideoFrameBuffer
  /// How far the frame has to be turned clockwise to be upright. The planes are as they were sent.
  public var rotation: VideoRotation { VideoRotation(rawValue: buffer.media.quarterTurns * 90) ?? ._0 }
  /// When the frame was taken, on the room's timeline.
  public let time: MediaTime

  package init(buffer: VideoFrameBuffer, time: MediaTime) {
    self.buffer = buffer
    self.time = time
  }

  /// Pixels of the planes, before `rotation`.
  public var dimensions: Dimensions { Dimensions(width: Int32(buffer.width), height: Int32(buffer.height)) }
  /// `time` in nanoseconds of the monotonic clock.
  public var timeStampNs: Int64 { time.nanoseconds }
  /// `time` in ticks of 90 kHz, as WebRTC's frames have it; it wraps around every 13 hours.
  public var timeStamp: Int32 {
    // In two steps, so that no time is too large to be multiplied.
    let (whole, rest) = timeStampNs.quotientAndRemainder(dividingBy: 100_000)
    return Int32(truncatingIfNeeded: whole &* 9 &+ rest * 9 / 100_000)
  }
}
