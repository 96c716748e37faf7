import GStreamerKit
import MediaCore

/// Gives each renderer of an audio track its sound in the format that it requires.
final class RequiredFormats: Sendable {
  /// Of the renderers that require one.
  private let converters = Locked<[ObjectIdentifier: RequiredFormat]>([:])

  /// Reads what a renderer requires; call it before its first buffer.
  func add(_ renderer: any AudioRenderer) {
    guard let format = renderer.requiredFormat, let required = RequiredFormat(format) else { return }
    converters.withLock { converters in
      let identity = ObjectIdentifier(renderer)
      if converters[identity] == nil { converters[identity] = required }
    }
  }

  /// Forgets a renderer; call it after its last buffer.
  func remove(_ renderer: any AudioRenderer) {
    converters.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(renderer)) }
  }

  /// Calls the renderer with the sound of `buffer`, in order, on the calling thread.
  func render(_ buffer: AudioPCMBuffer, in renderer: any AudioRenderer) {
    guard let required = converters.withLock({ $0[ObjectIdentifier(renderer)] }) else {
      return renderer.render(pcmBuffer: buffer)
    }
    for piece in required.convert(buffer) { renderer.render(pcmBuffer: piece) }
  }
}

/// One renderer's format, and the converter to it: resampling has a state, which no two renderers can share.
private final class RequiredFormat: Sendable {
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
