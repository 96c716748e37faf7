public import MediaCore

/// What a sender has sent, and which moment an RTP timestamp of it stands for (RFC 3550, 6.4.1).
public struct SenderReport: Sendable, Equatable {
  /// The stream that is sent.
  public var ssrc: SSRC
  /// The sender's wall clock at the moment that `rtpTimestamp` stands for.
  public var ntp: NTPTime
  /// The same moment as `ntp` in units of the stream's clock.
  public var rtpTimestamp: UInt32
  /// Packets sent since the stream began; wraps.
  public var packetCount: UInt32
  /// Bytes of payload.
  public var octetCount: UInt32
  /// At most 31 are written.
  public var blocks: [ReportBlock]

  /// - Parameter blocks: how the sender receives others; at most 31 are written.
  public init(
    ssrc: SSRC, ntp: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32, blocks: [ReportBlock] = []
  ) {
    self.ssrc = ssrc
    self.ntp = ntp
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
    self.blocks = blocks
  }

  private static let fixedLength = 28

  init?(_ body: RTCPBody) {
    let bytes = body.bytes
    guard bytes.count >= Self.fixedLength else { return nil }
    self.init(
      ssrc: SSRC(bytes.load32(at: 4)),
      ntp: NTPTime(rawValue: UInt64(bytes.load32(at: 8)) << 32 | UInt64(bytes.load32(at: 12))),
      rtpTimestamp: bytes.load32(at: 16), packetCount: bytes.load32(at: 20), octetCount: bytes.load32(at: 24),
      blocks: ReportBlock.parse(body, from: Self.fixedLength))
  }

  func write(to writer: inout RTCPWriter) {
    let blocks = blocks.prefix(ReportBlock.limit)
    writer.packet(.senderReport, count: blocks.count) { writer in
      writer.put(ssrc)
      writer.put(ntp.rawValue)
      writer.put(rtpTimestamp)
      writer.put(packetCount)
      writer.put(octetCount)
      for block in blocks { block.write(to: &writer) }
    }
  }
}
