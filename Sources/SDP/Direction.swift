/// Which way media flows, seen from whoever wrote the description (RFC 8866, 6.7).
public enum Direction: String, Sendable, CaseIterable {
  /// Both ways.
  case sendrecv
  /// To the other side only.
  case sendonly
  /// From the other side only.
  case recvonly
  /// Not at all, though it may be later.
  case inactive

  /// The direction of a side that does both, one or none of these.
  public init(sends: Bool, receives: Bool) {
    self =
      switch (sends, receives) {
      case (true, true): .sendrecv
      case (true, false): .sendonly
      case (false, true): .recvonly
      case (false, false): .inactive
      }
  }

  /// Whether media flows to the other side.
  public var sends: Bool { self == .sendrecv || self == .sendonly }
  /// Whether media flows from the other side.
  public var receives: Bool { self == .sendrecv || self == .recvonly }
  /// The same flow seen from the other side.
  public var reversed: Direction { Direction(sends: receives, receives: sends) }
  /// What both allow.
  public func limited(to other: Direction) -> Direction {
    Direction(sends: sends && other.sends, receives: receives && other.receives)
  }
}
