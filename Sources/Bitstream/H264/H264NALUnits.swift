/// The NAL units of an access unit in the form of MP4 and Matroska: each behind its length (ISO/IEC 14496-15).
struct H264NALUnits: Sequence, IteratorProtocol {
  private var rest: UnsafeRawBufferPointer
  private let lengthSize: Int

  init(_ unit: UnsafeRawBufferPointer, lengthSize: Int) {
    rest = unit
    self.lengthSize = lengthSize
  }

  mutating func next() -> UnsafeRawBufferPointer? {
    guard rest.count > lengthSize else { return nil }
    let length = rest.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
    guard length > 0, length <= rest.count - lengthSize else { return nil }
    let end = lengthSize + length
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[end...]) }
    return UnsafeRawBufferPointer(rebasing: rest[lengthSize..<end])
  }
}

/// What a NAL unit carries, and the bytes that keep start codes out of it (ITU-T H.264, 7.4.1).
enum H264Payload {
  /// The payload without the first byte and without emulation prevention, from at most `limit` bytes.
  static func read(_ nal: UnsafeRawBufferPointer, limit: Int = .max) -> [UInt8] {
    var payload: [UInt8] = []
    payload.reserveCapacity(Swift.min(nal.count, limit))
    var zeros = 0
    for byte in nal.dropFirst().prefix(limit) {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      payload.append(byte)
    }
    return payload
  }

  /// A NAL unit of that first byte.
  static func write(_ payload: [UInt8], header: UInt8) -> [UInt8] {
    var nal = [header]
    var zeros = 0
    for byte in payload {
      if zeros >= 2, byte <= 3 {
        nal.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      nal.append(byte)
    }
    return nal
  }
}
