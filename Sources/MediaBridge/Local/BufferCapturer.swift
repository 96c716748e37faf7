import GStreamerKit
public import MediaCore

/// Frames or audio of the program's own, as the source of a local track. What is captured while the track is muted or stopped
/// goes nowhere. Video that is to be published muted is given a frame before that, since the others are told its size.
public final class BufferCapturer: Sendable {
  private let handlers = Locked<CaptureHandlers?>(nil)
  private let newestSize = Locked<Dimensions?>(nil)

  /// Of the newest frame as it is seen, wherever that went; nil before the first one.
  var size: Dimensions? { newestSize.withLock { $0 } }

  init() {}

  /// Hands on a frame.
  /// - Parameter frame: its `time` is when it was taken; frames come in the order of their times.
  public func capture(_ frame: VideoFrame) {
    newestSize.withLock { $0 = frame.uprightSize }
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

extension AudioPCMBuffer {
  /// Audio of one's own, for ``BufferCapturer``.
  /// - Parameters:
  ///   - samples: all channels of a moment side by side.
  ///   - sampleRate: whole hertz, 1000…768 000.
  ///   - channels: 1…8.
  ///   - time: of the first sample.
  /// - Returns: nil for values beyond these, and where the samples are not of whole moments.
  public convenience init?(int16 samples: [Int16], sampleRate: Int, channels: Int, time: MediaTime = .now) {
    let format = AudioBuffer.Format(sampleFormat: .s16, sampleRate: sampleRate, channelCount: channels)
    self.init(samples, format, time)
  }

  /// The same of floats, -1…1.
  public convenience init?(floats samples: [Float], sampleRate: Int, channels: Int, time: MediaTime = .now) {
    let format = AudioBuffer.Format(sampleFormat: .f32, sampleRate: sampleRate, channelCount: channels)
    self.init(samples, format, time)
  }

  private convenience init?(_ samples: [some BitwiseCopyable], _ format: AudioBuffer.Format, _ time: MediaTime) {
    guard let media = samples.withUnsafeBytes({ MediaBuffer.pcm($0, format, time) }) else { return nil }
    self.init(CapturedMedia(media: media, time: time))
  }
}

extension MediaBuffer {
  /// Nil where the format is none, or there is a part of a moment.
  fileprivate static func pcm(
    _ samples: UnsafeRawBufferPointer, _ format: AudioBuffer.Format, _ time: MediaTime
  ) -> MediaBuffer? {
    let size = format.channelCount * (format.sampleFormat == .s16 ? 2 : 4)
    guard (1...8).contains(format.channelCount), (1000...768_000).contains(format.sampleRate),
      !samples.isEmpty, samples.count % size == 0
    else { return nil }
    let name = format.sampleFormat == .s16 ? "S16LE" : "F32LE"
    var caps = "audio/x-raw,format=\(name),layout=interleaved,rate=\(format.sampleRate),channels=\(format.channelCount)"
    // Which channel is which has to be said of more than two; that it is unknown is said by 0.
    if format.channelCount > 2 { caps += ",channel-mask=(bitmask)0x0" }
    return Caps(caps).map { MediaBuffer(copying: samples, caps: $0, pts: time) }
  }
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
