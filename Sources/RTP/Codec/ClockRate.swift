/// The rate comes from the other side's description, and a nonsensical one must not overflow anything.
enum ClockRate {
  static func usable(_ rate: Int) -> Int { min(max(rate, 1), 10_000_000) }
}
