import GStreamerKit
import MediaCore

/// One renderer's format, and the converter to it: resampling has a state, which no two renderers can share.
final class RequiredFormat: Sendable {
  private let format: AudioFormat
  private let converter: Locked<AudioConverter>

  init?(_ format: AudioFormat) {
    guard let made = format.buffer, let converter = AudioConverter(to: made) else { return nil }
    self.format = format
    self.converter = Locked(converter)
  }

  func convert(_ buffer: AudioPCMBuffer) -> [AudioPCMBuffer] {
    converter.withLock { $0.convert(buffer.buffer, at: buffer.time) }.map {
      AudioPCMBuffer(buffer: $0.buffer, time: $0.time, format: format)
    }
  }
}
