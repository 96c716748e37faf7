import GStreamerKit

/// The kind of a sample.
public enum AudioCommonFormat: Hashable, Sendable {
  /// 32-bit floats, -1…1.
  case pcmFormatFloat32
  /// Signed 16-bit integers.
  case pcmFormatInt16
}

/// How samples are laid out.
public struct AudioFormat: Hashable, Sendable {
  /// Which of a buffer's pointers this format is about; a buffer has the other, too.
  public let commonFormat: AudioCommonFormat
  /// Samples a second and channel.
  public let sampleRate: Double
  /// 1 for mono, 2 for stereo; at most 8.
  public let channelCount: UInt32
  /// All channels of a moment side by side (true) or one block a channel.
  public let isInterleaved: Bool

  /// - Parameters:
  ///   - sampleRate: whole hertz, 1000…768 000.
  ///   - channels: 1…8. Fewer than the track has are mixed, more are filled in the usual way: mono is left and right.
  ///   - interleaved: all channels of a moment side by side, or one block a channel.
  /// - Returns: nil for values beyond these.
  public init?(commonFormat: AudioCommonFormat, sampleRate: Double, channels: UInt32, interleaved: Bool) {
    self.init(commonFormat: commonFormat, sampleRate: sampleRate, channelCount: channels, isInterleaved: interleaved)
    guard sampleRate == sampleRate.rounded(), let made = buffer, AudioConverter(to: made) != nil else { return nil }
  }

  /// Floats, one block a channel.
  public init?(standardFormatWithSampleRate sampleRate: Double, channels: UInt32) {
    self.init(commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
  }

  /// What a decoder makes, as a renderer sees it that asks for nothing else.
  init(standardFor buffer: AudioBuffer) {
    self.init(
      commonFormat: .pcmFormatFloat32, sampleRate: Double(buffer.sampleRate),
      channelCount: UInt32(buffer.channelCount), isInterleaved: false)
  }

  private init(commonFormat: AudioCommonFormat, sampleRate: Double, channelCount: UInt32, isInterleaved: Bool) {
    self.commonFormat = commonFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.isInterleaved = isInterleaved
  }

  /// The same in GStreamer's terms; nil for a sample rate that is no number.
  var buffer: AudioBuffer.Format? {
    Int(exactly: sampleRate.rounded()).map { rate in
      AudioBuffer.Format(
        sampleFormat: commonFormat == .pcmFormatInt16 ? .s16 : .f32, sampleRate: rate, channelCount: Int(channelCount))
    }
  }
}

/// The name in AVFoundation, which Linux does not have.
public typealias AVAudioFormat = AudioFormat
/// The name in AVFoundation, which Linux does not have.
public typealias AVAudioCommonFormat = AudioCommonFormat
