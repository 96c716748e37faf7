import GStreamerKit
import MediaCore

/// Brings the audio of one track into what encoders of Opus take: 16 bit, 48 kHz, one or two channels.
final class OpusFormat: Sendable {
  private let converter = Locked<AudioConverter?>(nil)

  /// - Returns: nil for what is so already, or cannot be read.
  func convert(_ captured: CapturedMedia) -> [CapturedMedia]? {
    guard let audio = AudioBuffer(captured.media) else { return nil }
    let format = AudioBuffer.Format(
      sampleFormat: .s16, sampleRate: 48_000, channelCount: min(audio.channelCount, 2))
    guard audio.format != format else { return nil }
    let pieces = converter.withLock { converter -> [AudioConverter.Piece] in
      if converter?.format != format { converter = AudioConverter(to: format) }
      return converter?.convert(audio, at: captured.time) ?? []
    }
    return pieces.map { CapturedMedia(media: $0.buffer.media, time: $0.time) }
  }
}
