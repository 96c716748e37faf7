import Glibc

/// Wall-clock time as sender reports carry it: seconds since 1900 in 32.32 fixed point (RFC 3550, 4).
public struct NTPTime: RawRepresentable, Hashable, Sendable {
  /// 32 bits of seconds above 32 bits of fractions.
  public let rawValue: UInt64
  /// - Parameter rawValue: as in a sender report.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  private static let unixEpoch: Int64 = 2_208_988_800

  /// - Parameter unixNanoseconds: since 1970 (UTC).
  public init(unixNanoseconds: Int64) {
    let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = (UInt64(max(rest, 0)) << 32) / 1_000_000_000
    self.init(rawValue: UInt64(truncatingIfNeeded: seconds &+ Self.unixEpoch) << 32 | fraction)
  }

  /// The system's wall clock.
  public static var now: NTPTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return NTPTime(unixNanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Nanoseconds since 1900; only differences between two of them mean anything here.
  public var nanoseconds: Int64 {
    Int64(rawValue >> 32) * 1_000_000_000 + Int64(((rawValue & 0xffff_ffff) * 1_000_000_000) >> 32)
  }
  /// The middle 32 bits, as reception reports quote them (LSR).
  public var middle: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }
}
