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
    guard let packed = PackedI420(width: width, height: height), packed.size == bytes.count else { return nil }
    let media = bytes.withUnsafeBytes { source in
      packed.media(of: source, time: time)
    }
    guard let buffer = media.flatMap(VideoFrameBuffer.init) else { return nil }
    self.init(buffer: buffer, time: time)
  }
}

/// I420 whose rows stand right behind each other, which GStreamer wants to begin at multiples of four bytes.
private struct PackedI420 {
  private let planes: [(width: Int, height: Int)]
  private let caps: Caps

  init?(width: Int, height: Int) {
    guard (1...16_384).contains(width), (1...16_384).contains(height),
      let caps = Caps("video/x-raw,format=I420,width=\(width),height=\(height),framerate=0/1")
    else { return nil }
    let half = (width: (width + 1) / 2, height: (height + 1) / 2)
    planes = [(width, height), half, half]
    self.caps = caps
  }

  var size: Int { planes.reduce(0) { $0 + $1.width * $1.height } }

  func media(of source: UnsafeRawBufferPointer, time: MediaTime) -> MediaBuffer? {
    let isAligned = planes.allSatisfy { $0.width % 4 == 0 } && planes[0].height % 2 == 0
    guard !isAligned else { return MediaBuffer(copying: source, caps: caps, pts: time) }
    // The height of the first plane is rounded up to an even number, too.
    let rows = planes.map { (stride: ($0.width + 3) & ~3, count: ($0.height + 1) & ~1) }
    let heights = [rows[0].count, rows[0].count / 2, rows[0].count / 2]
    var bytes = [UInt8](repeating: 0, count: zip(rows, heights).reduce(0) { $0 + $1.0.stride * $1.1 })
    var (from, plane) = (0, 0)
    for (index, size) in planes.enumerated() {
      for row in 0..<size.height {
        let to = plane + row * rows[index].stride
        bytes.replaceSubrange(to..<(to + size.width), with: source[from..<(from + size.width)])
        from += size.width
      }
      plane += rows[index].stride * heights[index]
    }
    return bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: time) }
  }
}
