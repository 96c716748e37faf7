import Glibc

/// A moment on CLOCK_MONOTONIC in nanoseconds: the one clock of this process. GStreamer's pipelines run on the same
/// clock with base time zero, so a buffer's timestamp and a `MediaTime` are the same number.
public struct MediaTime: Comparable, Hashable, Sendable, CustomStringConvertible {
  /// Since a moment that is the same for the whole machine, mostly its start.
  public var nanoseconds: Int64
  /// - Parameter nanoseconds: of CLOCK_MONOTONIC.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Costs a read of the clock, without a system call.
  public static var now: MediaTime { MediaTime(nanoseconds: reading(of: CLOCK_MONOTONIC)) }

  /// How long the machine is up, with the time that it slept (CLOCK_BOOTTIME), for which this clock stands still.
  public static var uptime: Duration { .nanoseconds(reading(of: CLOCK_BOOTTIME)) }

  /// How long the machine has slept since its start. Both clocks are read anew where something held that up.
  public static var sleep: Duration {
    while true {
      let (before, whole, after) = (now, uptime, now)
      if after - before < .milliseconds(10) { return whole - .nanoseconds(after.nanoseconds) }
    }
  }

  private static func reading(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Whether the left one is earlier.
  public static func < (lhs: MediaTime, rhs: MediaTime) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
  /// How much later the left one is; negative when it is earlier.
  public static func - (lhs: MediaTime, rhs: MediaTime) -> Duration {
    .nanoseconds(lhs.nanoseconds - rhs.nanoseconds)
  }
  /// A later moment.
  public static func + (lhs: MediaTime, rhs: Duration) -> MediaTime {
    MediaTime(nanoseconds: lhs.nanoseconds + rhs.nanoseconds)
  }
  /// An earlier moment.
  public static func - (lhs: MediaTime, rhs: Duration) -> MediaTime {
    MediaTime(nanoseconds: lhs.nanoseconds - rhs.nanoseconds)
  }
  /// In seconds, such as `12.5s`.
  public var description: String { "\(Double(nanoseconds) / 1e9)s" }
}

extension Duration {
  /// Whole nanoseconds, saturating at ±292 years.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : scaled &+ attoseconds / 1_000_000_000
  }
  /// In seconds; exact to a nanosecond up to 104 days.
  public var seconds: Double { Double(nanoseconds) / 1e9 }
}
