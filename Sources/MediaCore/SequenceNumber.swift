/// A 16-bit RTP sequence number that wraps around; "before" and "after" mean the shorter way round (RFC 3550, A.1).
public struct SequenceNumber: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// As in the packet's header.
  public let rawValue: UInt16
  /// Any value is one.
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// Any value is one.
  public init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// The next one; 0 after 65,535.
  public var successor: SequenceNumber { SequenceNumber(rawValue &+ 1) }
  /// Steps from `other` to `self`, negative when `self` comes first; -32768…32767.
  public func distance(from other: SequenceNumber) -> Int { Int(Int16(bitPattern: rawValue &- other.rawValue)) }
  /// Whether `other` comes first, by the shorter way round.
  public func isAfter(_ other: SequenceNumber) -> Bool { distance(from: other) > 0 }
  /// The number so many steps on, or back where `steps` is negative.
  public static func + (lhs: SequenceNumber, steps: Int) -> SequenceNumber {
    SequenceNumber(lhs.rawValue &+ UInt16(truncatingIfNeeded: steps))
  }
  /// In decimal.
  public var description: String { String(rawValue) }
}

/// Extends a wrapping counter to 64 bits: each value is taken as the one nearest to the newest seen so far.
public struct Unwrapper<Wrapped: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  @usableFromInline var newest: Int64?

  /// Nothing seen.
  public init() {}

  // Inlinable, since what is generic is slow when another module calls it for every packet.

  /// The extended value of `value`; the first one stands for itself.
  @inlinable public mutating func unwrap(_ value: Wrapped) -> Int64 {
    guard let newest else {
      self.newest = Int64(value)
      return Int64(value)
    }
    let extended = Self.nearest(value, to: newest)
    self.newest = max(newest, extended)
    return extended
  }

  /// The extended value without moving the newest; nil before the first `unwrap`.
  @inlinable public func peek(_ value: Wrapped) -> Int64? { newest.map { Self.nearest(value, to: $0) } }

  @inlinable static func nearest(_ value: Wrapped, to reference: Int64) -> Int64 {
    let range = Int64(1) << Int64(Wrapped.bitWidth)
    let forward = Int64(value &- Wrapped(truncatingIfNeeded: reference))
    return reference + (forward < range / 2 ? forward : forward - range)
  }
}

/// For sequence numbers.
public typealias SequenceUnwrapper = Unwrapper<UInt16>
/// For RTP timestamps.
public typealias TimestampUnwrapper = Unwrapper<UInt32>
