import GStreamerKit

/// Tells audio of which nobody misses a little from what is heard beside it. Pure.
struct QuietAudio: Sendable {
  /// Of full scale: nobody hears it.
  private static let silence: Float = 1 / 256
  /// Of the loudest of the last seconds: a pause between words with whatever noise is in it.
  private static let pause: Float = 1 / 32
  /// What is left of the loudest with each buffer.
  private static let memory: Float = 0.998

  private var loudest: Float = 0

  /// Takes note of the next audio.
  /// - Parameter peak: 0…1.
  /// - Returns: whether nobody misses a little of it.
  mutating func contains(peak: Float) -> Bool {
    let peak = min(peak, 1)
    loudest = max(peak, loudest * Self.memory)
    return peak <= max(Self.silence, loudest * Self.pause)
  }
}

extension AudioBuffer {
  /// The largest sample, 1 for full scale; nil for samples of a kind that is not read.
  var peak: Float? {
    withInt16Samples { samples in
      Float(samples.reduce(UInt16(0)) { max($0, $1.magnitude) }) / 32_768
    } ?? withFloatSamples { samples in samples.reduce(Float(0)) { max($0, $1.magnitude) } }
  }
}
