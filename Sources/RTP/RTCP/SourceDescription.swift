import MediaCore

/// Which participant a stream belongs to (RFC 3550, 6.5); of the items only CNAME matters to us.
enum SourceDescription {
  private enum Item {
    static let end: UInt8 = 0
    static let cname: UInt8 = 1
  }

  /// One packet for each chunk that has a CNAME.
  static func parse(_ body: RTCPBody, into packets: inout [RTCPPacket]) {
    var offset = 4
    for _ in 0..<body.count {
      guard offset + 4 <= body.bytes.count else { return }
      let ssrc = SSRC(body.bytes.load32(at: offset))
      guard let chunk = items(body.bytes, from: offset + 4) else { return }
      if let cname = chunk.cname {
        packets.append(.sourceDescription(ssrc: ssrc, cname: String(decoding: body.bytes[cname], as: UTF8.self)))
      }
      offset = chunk.end
    }
  }

  /// Reads one chunk's items; nil when they run over the end.
  private static func items(_ bytes: UnsafeRawBufferPointer, from start: Int) -> (cname: Range<Int>?, end: Int)? {
    var offset = start
    var cname: Range<Int>?
    while offset < bytes.count {
      // The list ends with at least one zero, up to a whole word.
      if bytes[offset] == Item.end { return (cname, (offset / 4 + 1) * 4) }
      guard offset + 2 <= bytes.count else { return nil }
      let value = (offset + 2)..<(offset + 2 + Int(bytes[offset + 1]))
      guard value.upperBound <= bytes.count else { return nil }
      if bytes[offset] == Item.cname { cname = value }
      offset = value.upperBound
    }
    return (cname, offset)
  }

  static func write(_ ssrc: SSRC, cname: String, to writer: inout RTCPWriter) {
    let name = cname.utf8.prefix(255)
    writer.packet(.sourceDescription, count: 1) { writer in
      writer.put(ssrc)
      writer.put(Item.cname)
      writer.put(UInt8(name.count))
      writer.put(contentsOf: name)
      writer.put(Item.end)
    }
  }
}
