import MediaCore

/// Collects a compound packet.
struct RTCPWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ ssrc: SSRC) { put(ssrc.rawValue) }
  mutating func put(contentsOf more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  /// Writes header and body; fills up to whole words with zeros and sets the length.
  mutating func packet(_ type: RTCPType, count: Int, _ body: (inout RTCPWriter) -> Void) {
    let start = bytes.count
    put(0x80 | UInt8(count & 31))
    put(type.rawValue)
    put(UInt16(0))
    body(&self)
    while (bytes.count - start) % 4 != 0 { bytes.append(0) }
    let words = UInt16(truncatingIfNeeded: (bytes.count - start) / 4 - 1)
    bytes[start + 2] = UInt8(words >> 8)
    bytes[start + 3] = UInt8(words & 0xff)
  }

  mutating func feedback(
    _ type: RTCPType, format: Int, sender: SSRC, media: SSRC, _ body: (inout RTCPWriter) -> Void
  ) {
    packet(type, count: format) { writer in
      writer.put(sender)
      writer.put(media)
      body(&writer)
    }
  }
}
