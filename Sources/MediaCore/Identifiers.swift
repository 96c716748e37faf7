/// The synchronisation source of an RTP stream (RFC 3550, 3).
public struct SSRC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// As in the packet's header.
  public let rawValue: UInt32
  /// Any value is one.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Any value is one.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  /// In decimal.
  public var description: String { String(rawValue) }
}

/// The seven-bit payload type of an RTP packet; bit 7 of the argument is dropped.
public struct PayloadType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// 0…127.
  public let rawValue: UInt8
  /// Drops bit 7, which in a packet's header is the marker.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 0x7f }
  /// Drops bit 7, which in a packet's header is the marker.
  public init(_ rawValue: UInt8) { self.init(rawValue: rawValue) }
  /// In decimal.
  public var description: String { String(rawValue) }
}
