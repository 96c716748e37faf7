public import GStreamerKit
public import MediaCore

/// How samples are laid out.
public struct AudioFormat: Hashable, Sendable {
  /// Samples a second and channel.
  public let sampleRate: Double
  public let channelCount: UInt32
  /// All channels of a moment side by side (true) or one block a channel.
  public let isInterleaved: Bool
}

/// A stretch of decoded sound.
public struct AudioPCMBuffer: Sendable {
  public let buffer: AudioBuffer
  public let time: MediaTime

  init(buffer: AudioBuffer, time: MediaTime) {
    self.buffer = buffer
    self.time = time
  }

  public var format: AudioFormat {
    AudioFormat(sampleRate: Double(buffer.sampleRate), channelCount: UInt32(buffer.channelCount), isInterleaved: true)
  }
  /// Moments in this buffer; each has `channelCount` samples.
  public var frameLength: UInt32 { UInt32(buffer.frameCount) }
  public var frameCapacity: UInt32 { frameLength }
}

public typealias AVAudioPCMBuffer = AudioPCMBuffer
