public import MediaCore

/// How a participant that sends nothing receives others (RFC 3550, 6.4.2).
public struct ReceiverReport: Sendable, Equatable {
  /// The receiver that reports.
  public var ssrc: SSRC
  /// At most 31 are written.
  public var blocks: [ReportBlock]

  /// - Parameter blocks: one for each stream that is received.
  public init(ssrc: SSRC, blocks: [ReportBlock]) {
    self.ssrc = ssrc
    self.blocks = blocks
  }

  init?(_ body: RTCPBody) {
    guard body.bytes.count >= 8 else { return nil }
    self.init(ssrc: SSRC(body.bytes.load32(at: 4)), blocks: ReportBlock.parse(body, from: 8))
  }

  func write(to writer: inout RTCPWriter) {
    let blocks = blocks.prefix(ReportBlock.limit)
    writer.packet(.receiverReport, count: blocks.count) { writer in
      writer.put(ssrc)
      for block in blocks { block.write(to: &writer) }
    }
  }
}
