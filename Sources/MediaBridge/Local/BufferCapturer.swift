import GStreamerKit
public import MediaCore

/// Frames or audio of the program's own, as the source of a local track. What is captured while the track is muted or stopped
/// goes nowhere.
public final class BufferCapturer: Sendable {
  private let handlers = Locked<CaptureHandlers?>(nil)

  init() {}

  /// Hands on a frame.
  /// - Parameter frame: its `time` is when it was taken; frames come in the order of their times.
  public func capture(_ frame: VideoFrame) {
    handlers.withLock { $0 }?.media(CapturedMedia(media: frame.buffer.media, time: frame.time))
  }

  /// Hands on a stretch of audio.
  /// - Parameter buffer: its `time` is that of its first sample; each follows on from the one before.
  public func capture(_ buffer: AudioPCMBuffer) {
    handlers.withLock { $0 }?.media(CapturedMedia(media: buffer.buffer.media, time: buffer.time))
  }
}

extension BufferCapturer: MediaCapture {
  func start(_ handlers: CaptureHandlers) { self.handlers.withLock { $0 = handlers } }
  func stop() { handlers.withLock { $0 = nil } }
}

extension VideoFrame {
  /// A frame of one's own.
  /// - Parameters:
  ///   - bytes: the planes Y, U and V one after the other, each row right behind the one above: `width * height` bytes, then
  ///     twice half of the width (rounded up) times half of the height (rounded up).
  ///   - time: when it was taken.
  /// - Returns: nil where there are fewer or more bytes than that.
  public init?(i420 bytes: [UInt8], width: Int, height: Int, time: MediaTime = .now) {
    let media = bytes.withUnsafeBytes { MediaBuffer.packedI420($0, width: width, height: height, pts: time) }
    guard let buffer = media.flatMap(VideoFrameBuffer.init) else { return nil }
    self.init(buffer: buffer, time: time)
  }
}
