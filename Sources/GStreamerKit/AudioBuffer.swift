import CGStreamer

/// Raw interleaved audio: a view of a `MediaBuffer`, whose memory it keeps alive and does not copy.
public struct AudioBuffer: Sendable {
  /// The kind of a sample, by GStreamer's names.
  public enum SampleFormat: Hashable, Sendable {
    /// Signed 16 bit, little endian.
    case s16
    /// 32-bit float, little endian, -1…1.
    case f32
    /// Another one of GStreamer's, such as `S24LE`.
    case other(String)
  }

  /// What has to be known of samples to read them.
  public struct Format: Hashable, Sendable {
    /// The kind of each sample.
    public var sampleFormat: SampleFormat
    /// Frames a second.
    public var sampleRate: Int
    /// Samples a frame, side by side.
    public var channelCount: Int

    /// - Parameter sampleRate: frames a second.
    public init(sampleFormat: SampleFormat, sampleRate: Int, channelCount: Int) {
      self.sampleFormat = sampleFormat
      self.sampleRate = sampleRate
      self.channelCount = channelCount
    }
  }

  /// What it is a view of.
  public let media: MediaBuffer
  var info: GstAudioInfo { media.format.audio ?? GstAudioInfo() }

  /// Nil when the buffer is not raw interleaved audio.
  public init?(_ media: MediaBuffer) {
    guard let info = media.format.audio, info.layout == GST_AUDIO_LAYOUT_INTERLEAVED, info.bpf > 0 else { return nil }
    self.media = media
  }

  /// Frames a second.
  public var sampleRate: Int { Int(info.rate) }
  /// Samples a frame, side by side.
  public var channelCount: Int { Int(info.channels) }
  /// Samples of one channel.
  public var frameCount: Int { media.size / max(Int(info.bpf), 1) }

  /// The three above in one.
  public var format: Format {
    Format(sampleFormat: sampleFormat, sampleRate: sampleRate, channelCount: channelCount)
  }

  /// The kind of each sample.
  public var sampleFormat: SampleFormat {
    guard let format = info.finfo?.pointee.format else { return .other("unknown") }
    switch format {
    case GST_AUDIO_FORMAT_S16LE: return .s16
    case GST_AUDIO_FORMAT_F32LE: return .f32
    default: return .other(gst_audio_format_to_string(format).map { String(cString: $0) } ?? "unknown")
    }
  }

  /// The interleaved samples, valid inside `body` only; nil when the format is another.
  public func withInt16Samples<Result>(_ body: (UnsafeBufferPointer<Int16>) throws -> Result) rethrows -> Result? {
    guard sampleFormat == .s16 else { return nil }
    return try media.withUnsafeBytes { try body($0.bindMemory(to: Int16.self)) }
  }

  /// The interleaved samples, valid inside `body` only; nil when the format is another.
  public func withFloatSamples<Result>(_ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result? {
    guard sampleFormat == .f32 else { return nil }
    return try media.withUnsafeBytes { try body($0.bindMemory(to: Float.self)) }
  }
}
