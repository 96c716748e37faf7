public import MediaCore

/// How one stream is received (RFC 3550, 6.4.1).
public struct ReportBlock: Sendable, Equatable {
  /// The stream that the block is about.
  public var ssrc: SSRC
  /// Share lost since the last report, in 256ths.
  public var fractionLost: UInt8
  /// Packets lost so far; written as the nearest of -8388608…8388607.
  public var cumulativeLost: Int
  /// The highest sequence number with the count of its wraps above it.
  public var highestSequence: UInt32
  /// In units of the stream's clock.
  public var jitter: UInt32
  /// The middle of the last sender report's NTP time; 0 before the first.
  public var lastSenderReport: UInt32
  /// In units of 1/65536 s.
  public var delaySinceLastSenderReport: UInt32

  /// Values as the wire has them: 256ths, counts since the beginning, ticks, and 65,536ths of a second.
  public init(
    ssrc: SSRC, fractionLost: UInt8, cumulativeLost: Int, highestSequence: UInt32, jitter: UInt32,
    lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.highestSequence = highestSequence
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  /// The count in a report's header has five bits.
  static let limit = 31
  private static let length = 24

  static func parse(_ body: RTCPBody, from start: Int) -> [ReportBlock] {
    body.entries(from: start, size: length).prefix(body.count).map { ReportBlock(body.bytes, at: $0) }
  }

  private init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    self.init(
      ssrc: SSRC(bytes.load32(at: offset)), fractionLost: bytes[offset + 4],
      cumulativeLost: Int(Int32(bitPattern: bytes.load32(at: offset + 4) << 8) >> 8),
      highestSequence: bytes.load32(at: offset + 8), jitter: bytes.load32(at: offset + 12),
      lastSenderReport: bytes.load32(at: offset + 16), delaySinceLastSenderReport: bytes.load32(at: offset + 20))
  }

  func write(to writer: inout RTCPWriter) {
    let lost = UInt32(bitPattern: Int32(min(max(cumulativeLost, -0x80_0000), 0x7f_ffff)))
    writer.put(ssrc)
    writer.put(UInt32(fractionLost) << 24 | lost & 0xff_ffff)
    writer.put(highestSequence)
    writer.put(jitter)
    writer.put(lastSenderReport)
    writer.put(delaySinceLastSenderReport)
  }
}
