public import GStreamerKit
public import MediaCore
import Synchronization

/// A stretch of decoded audio.
///
/// Its samples can be had in three ways: as `floatChannelData`, as `int16ChannelData`, or without a copy in the
/// decoder's own memory through `buffer`. The first two are always there, whatever the decoder made; a copy in that
/// form is made when it is first asked for and kept as long as this object, so a pointer must not outlive the buffer it
/// came from. Nothing is copied or converted for a form that nobody asks for.
///
/// One object may be handed to several renderers of a track: what is written through its pointers, they see too.
public final class AudioPCMBuffer: Sendable {
  /// The decoder's memory, or the converter's for a renderer with a `requiredFormat`; always interleaved.
  public let buffer: AudioBuffer
  /// How the samples behind `floatChannelData` and `int16ChannelData` lie: floats with one block a channel unless the
  /// renderer asked for something else.
  public let format: AudioFormat
  /// When the first sample is to be heard, on the room's timeline.
  public let time: MediaTime
  private let floats = AtomicLazyReference<ChannelData<Float>>()
  private let integers = AtomicLazyReference<ChannelData<Int16>>()

  /// - Parameter format: of the buffer's own sample rate and channels; nil for floats with one block a channel.
  init(buffer: AudioBuffer, time: MediaTime, format: AudioFormat? = nil) {
    self.buffer = buffer
    self.time = time
    self.format = format ?? AudioFormat(standardFor: buffer)
  }

  /// Moments in this buffer; each has `channelCount` samples.
  public var frameLength: UInt32 { UInt32(buffer.frameCount) }
  /// As `frameLength`: a buffer is always full.
  public var frameCapacity: UInt32 { frameLength }
  /// Samples from one moment of a channel to the next: 1, or `channelCount` when the format is interleaved.
  public var stride: Int { format.isInterleaved ? buffer.channelCount : 1 }

  /// A pointer for each channel to `frameLength` samples of -1…1, `stride` apart. 16-bit samples are divided by 32 768.
  ///
  /// Of an interleaved format the pointers lead into the same block, each one sample behind the one before.
  /// Nil only for samples that cannot be read or converted.
  public var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? {
    let data = floats.load() ?? floats.storeIfNil(channelData { buffer.writeFloats(to: $0) })
    return data.isFilled ? data.pointers : nil
  }

  /// As `floatChannelData`, as signed 16-bit samples; floats beyond -1…1 become the nearest that there are.
  public var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? {
    let data = integers.load() ?? integers.storeIfNil(channelData { buffer.writeInt16s(to: $0) })
    return data.isFilled ? data.pointers : nil
  }

  private func channelData<Sample: BitwiseCopyable & AdditiveArithmetic>(
    _ fill: ([UnsafeMutablePointer<Sample>]) -> Bool
  ) -> ChannelData<Sample> {
    ChannelData(
      channels: buffer.channelCount, frames: buffer.frameCount, isInterleaved: format.isInterleaved, fill: fill)
  }
}

/// The name in AVFoundation, which Linux does not have.
public typealias AVAudioPCMBuffer = AudioPCMBuffer

/// Samples with a pointer to each channel.
///
/// `@unchecked Sendable`: written only while it is made. Its pointers are handed out as AVFoundation's are, and whoever
/// writes through them answers for it; the memory is given back when no buffer refers to it any more.
private final class ChannelData<Sample: BitwiseCopyable & AdditiveArithmetic>: @unchecked Sendable {
  private let samples: UnsafeMutablePointer<Sample>
  private let channels: UnsafeMutablePointer<UnsafeMutablePointer<Sample>>
  let isFilled: Bool

  init(channels count: Int, frames: Int, isInterleaved: Bool, fill: ([UnsafeMutablePointer<Sample>]) -> Bool) {
    // Never empty, so that there is always something to point to.
    samples = .allocate(capacity: max(count * frames, 1))
    samples.initialize(repeating: .zero, count: max(count * frames, 1))
    channels = .allocate(capacity: max(count, 1))
    for channel in 0..<count { (channels + channel).initialize(to: samples + channel * (isInterleaved ? 1 : frames)) }
    isFilled = fill(isInterleaved ? [samples] : (0..<count).map { [channels] in channels[$0] })
  }

  deinit {
    samples.deallocate()
    channels.deallocate()
  }

  var pointers: UnsafePointer<UnsafeMutablePointer<Sample>> { UnsafePointer(channels) }
}
