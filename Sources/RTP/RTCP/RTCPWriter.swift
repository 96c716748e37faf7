import MediaCore

extension RTCPPacket {
  /// The compound packet as bytes.
  public static func serialize(_ packets: [RTCPPacket]) -> [UInt8] {
    var writer = RTCPWriter()
    for packet in packets { writer.write(packet) }
    return writer.bytes
  }
}

struct RTCPWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ packet: RTCPPacket) {
    switch packet {
    case .senderReport(let report): write(report)
    case .receiverReport(let report):
      packetOf(type: 201, count: report.blocks.prefix(31).count) { writer in
        writer.put(report.ssrc.rawValue)
        report.blocks.prefix(31).forEach { writer.write($0) }
      }
    case .sourceDescription(let ssrc, let cname):
      packetOf(type: 202, count: 1) { writer in
        let name = Array(cname.utf8.prefix(255))
        writer.put(ssrc.rawValue)
        writer.put(UInt8(1))
        writer.put(UInt8(name.count))
        writer.bytes += name
        writer.put(UInt8(0))
      }
    case .goodbye(let sources):
      packetOf(type: 203, count: sources.prefix(31).count) { writer in
        sources.prefix(31).forEach { writer.put($0.rawValue) }
      }
    case .nack(let nack): write(nack)
    case .pictureLossIndication(let sender, let media): feedback(206, 1, sender, media) { _ in }
    case .fullIntraRequest(let sender, let media):
      feedback(206, 4, sender, SSRC(0)) { writer in
        writer.put(media.rawValue)
        writer.put(UInt32(0))
      }
    case .transportFeedback(let feedback): write(feedback)
    }
  }

  /// Writes header and body; pads to whole words and fills in the length.
  mutating func packetOf(type: UInt8, count: Int, _ body: (inout RTCPWriter) -> Void) {
    let start = bytes.count
    put(0x80 | UInt8(count & 31))
    put(type)
    put(UInt16(0))
    body(&self)
    while (bytes.count - start) % 4 != 0 { bytes.append(0) }
    let words = UInt16(truncatingIfNeeded: (bytes.count - start) / 4 - 1)
    bytes[start + 2] = UInt8(words >> 8)
    bytes[start + 3] = UInt8(words & 0xff)
  }

  mutating func feedback(
    _ type: UInt8, _ format: Int, _ sender: SSRC, _ media: SSRC, _ body: (inout RTCPWriter) -> Void
  ) {
    packetOf(type: type, count: format) { writer in
      writer.put(sender.rawValue)
      writer.put(media.rawValue)
      body(&writer)
    }
  }

  private mutating func write(_ report: SenderReport) {
    packetOf(type: 200, count: report.blocks.prefix(31).count) { writer in
      writer.put(report.ssrc.rawValue)
      writer.put(report.ntp.rawValue)
      writer.put(report.rtpTimestamp)
      writer.put(report.packetCount)
      writer.put(report.octetCount)
      report.blocks.prefix(31).forEach { writer.write($0) }
    }
  }

  private mutating func write(_ block: ReportBlock) {
    put(block.ssrc.rawValue)
    let lost = UInt32(bitPattern: Int32(clamping: min(max(block.cumulativeLost, -0x80_0000), 0x7f_ffff)))
    put(UInt32(block.fractionLost) << 24 | lost & 0xff_ffff)
    put(block.highestSequence)
    put(block.jitter)
    put(block.lastSenderReport)
    put(block.delaySinceLastSenderReport)
  }

  private mutating func write(_ nack: NegativeAcknowledgement) {
    feedback(205, 1, nack.sender, nack.media) { writer in
      var rest = nack.lost[...]
      while let first = rest.popFirst() {
        var mask: UInt16 = 0
        while let next = rest.first, (1...16).contains(next.distance(from: first)) {
          mask |= 1 << UInt16(next.distance(from: first) - 1)
          rest.removeFirst()
        }
        writer.put(first.rawValue)
        writer.put(mask)
      }
    }
  }
}
