import MediaBridge

/// Several streams on one pipe: what stands in front of each frame or block of samples, in 32 bytes, little endian.
///
/// | byte | what | of frames | of samples |
/// |---|---|---|---|
/// | 0 | `MBF1` | | |
/// | 4 | UInt32 | bytes that follow | the same |
/// | 8 | UInt32 | number of the stream, from 1 on | the same |
/// | 12 | UInt32 | width | samples a second |
/// | 16 | UInt32 | height | channels |
/// | 20 | 4 characters | `i420`, `nv12`, `rgb `, `bgr `, `gray`, `png `, `jpeg` | `s16 `, `f32 ` |
/// | 24 | Int64 | nanoseconds since the stream's first frame | the same |
///
/// One of the format `json` says whose the stream is from now on: `{"participant":"alice","track":1, …}`, and once something
/// has come when that first frame was, on the clock of the machine: `"start":4711.25`.
struct RawFraming: Sendable {
  static let track = "json"
  /// Of the stream.
  let number: Int

  func framed(_ bytes: [UInt8], as format: String, _ width: Int, _ height: Int, at time: Duration) -> [UInt8] {
    let (seconds, attoseconds) = time.components
    var framed: [UInt8] = []
    framed.reserveCapacity(bytes.count + 32)
    framed += "MBF1".utf8
    for value in [bytes.count, number, width, height] { framed += Self.littleEndian(UInt32(clamping: value)) }
    framed += format.utf8.prefix(4) + [UInt8](repeating: 0x20, count: max(0, 4 - format.utf8.count))
    framed += Self.littleEndian(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    return framed + bytes
  }

  private static func littleEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}
