import MediaCore

/// Streams that end (RFC 3550, 6.6); a reason is passed over.
enum Goodbye {
  static func parse(_ body: RTCPBody) -> [SSRC] {
    body.entries(from: 4, size: 4).prefix(body.count).map { SSRC(body.bytes.load32(at: $0)) }
  }

  static func write(_ sources: [SSRC], to writer: inout RTCPWriter) {
    let sources = sources.prefix(31)
    writer.packet(.goodbye, count: sources.count) { writer in
      for source in sources { writer.put(source) }
    }
  }
}
