public import MediaCore

/// The bitrate that a receiver believes it can take in all (REMB: draft-alvestrand-rmcat-remb-03, 2). `BandwidthFeedback`
/// estimates it.
public struct REMB: Sendable, Equatable {
  /// The receiver that estimates.
  public var sender: SSRC
  /// Bits per second; the wire keeps its 18 most significant bits.
  public var bitrate: UInt64
  /// The streams it is for; at most 255 are written.
  public var sources: [SSRC]

  /// - Parameter bitrate: bits per second of all `sources` together.
  public init(sender: SSRC, bitrate: UInt64, sources: [SSRC]) {
    self.sender = sender
    self.bitrate = bitrate
    self.sources = sources
  }

  /// "Application layer feedback" (RFC 4585, 6.4), which this is one of by its name.
  static let format = 15
  private static let name: UInt32 = 0x5245_4d42
  private static let mantissaBits = 18

  init?(_ body: RTCPBody) {
    let bytes = body.bytes
    guard let parties = body.parties, bytes.count >= 20, bytes.load32(at: 12) == Self.name else { return nil }
    let word = bytes.load32(at: 16)
    let exponent = UInt64(word >> 18 & 63)
    let mantissa = UInt64(word & 0x3_ffff)
    // More than 64 bits is nobody's estimate.
    guard exponent <= UInt64(64 - Self.mantissaBits) else { return nil }
    let sources = body.entries(from: 20, size: 4).prefix(Int(word >> 24)).map { SSRC(bytes.load32(at: $0)) }
    self.init(sender: parties.sender, bitrate: mantissa << exponent, sources: sources)
  }

  func write(to writer: inout RTCPWriter) {
    let exponent = max(UInt64.bitWidth - bitrate.leadingZeroBitCount - Self.mantissaBits, 0)
    let sources = sources.prefix(255)
    writer.feedback(.payloadFeedback, format: Self.format, sender: sender, media: SSRC(0)) { writer in
      writer.put(Self.name)
      writer.put(UInt32(sources.count) << 24 | UInt32(exponent) << 18 | UInt32(bitrate >> UInt64(exponent)))
      for source in sources { writer.put(source) }
    }
  }
}
