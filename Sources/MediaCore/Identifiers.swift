/// The synchronisation source of an RTP stream (RFC 3550, 3).
public struct SSRC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public var description: String { String(rawValue) }
}

/// The seven-bit payload type of an RTP packet; bit 7 of the argument is dropped.
public struct PayloadType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue & 0x7f }
  public init(_ rawValue: UInt8) { self.init(rawValue: rawValue) }
  public var description: String { String(rawValue) }
}
