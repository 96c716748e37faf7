extension NTPTime {
  /// The moment `duration` later; wraps with the era (2036).
  public func advanced(by duration: Duration) -> NTPTime {
    let (seconds, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = (rest << 32) / 1_000_000_000
    return NTPTime(rawValue: rawValue &+ UInt64(bitPattern: seconds << 32) &+ UInt64(bitPattern: fraction))
  }

  /// The time from `other` to this one, the shorter way round an era: within ±68 years.
  public func since(_ other: NTPTime) -> Duration {
    let difference = Int64(bitPattern: rawValue &- other.rawValue)
    let seconds = difference >> 32
    let fraction = ((difference & 0xffff_ffff) * 1_000_000_000) >> 32
    return .nanoseconds(seconds * 1_000_000_000 + fraction)
  }
}
