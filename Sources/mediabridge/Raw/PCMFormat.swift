import MediaBridge

/// How `pcm` writes samples.
enum PCMFormat: String, CaseIterable, Sendable {
  case s16le, f32le, wav

  /// Of a sample of one channel.
  var width: Int { self == .f32le ? 4 : 2 }

  func bytes(of samples: [Float]) -> [UInt8] {
    self == .f32le ? Self.bytes(of: samples) { $0.bitPattern } : Self.bytes(of: samples, Self.integer)
  }

  private static func bytes(of samples: [Float], _ value: (Float) -> some FixedWidthInteger) -> [UInt8] {
    samples.map { value($0).littleEndian }.withUnsafeBytes(Array.init)
  }

  private static func integer(_ sample: Float) -> Int16 {
    Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
  }

  private static func littleEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  /// What stands in front of all samples.
  /// - Parameter bytes: of samples; nil where nobody knows, which readers of a pipe take for as many as come.
  func header(rate: Int, channels: Int, bytes: Int?) -> [UInt8] {
    guard self == .wav else { return [] }
    let frame = width * channels
    let most = Int(UInt32.max) - 36
    let size = UInt32(min(bytes ?? most, most))
    let format: [UInt8] =
      Self.littleEndian(UInt32(16)) + Self.littleEndian(UInt16(1)) + Self.littleEndian(UInt16(channels))
      + Self.littleEndian(UInt32(rate)) + Self.littleEndian(UInt32(rate * frame))
      + Self.littleEndian(UInt16(frame)) + Self.littleEndian(UInt16(8 * width))
    return Array("RIFF".utf8) + Self.littleEndian(size + 36) + Array("WAVEfmt ".utf8) + format + Array("data".utf8)
      + Self.littleEndian(size)
  }
}
