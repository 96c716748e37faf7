import Glibc

/// A moment on CLOCK_MONOTONIC in nanoseconds: the one clock of this process. GStreamer's pipelines run on the same
/// clock with base time zero, so a buffer's timestamp and a `MediaTime` are the same number.
public struct MediaTime: Comparable, Hashable, Sendable, CustomStringConvertible {
  public var nanoseconds: Int64
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static var now: MediaTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MediaTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  public static func < (lhs: MediaTime, rhs: MediaTime) -> Bool { lhs.nanoseconds < rhs.nanoseconds }
  public static func - (lhs: MediaTime, rhs: MediaTime) -> Duration {
    .nanoseconds(lhs.nanoseconds - rhs.nanoseconds)
  }
  public static func + (lhs: MediaTime, rhs: Duration) -> MediaTime {
    MediaTime(nanoseconds: lhs.nanoseconds + rhs.nanoseconds)
  }
  public static func - (lhs: MediaTime, rhs: Duration) -> MediaTime {
    MediaTime(nanoseconds: lhs.nanoseconds - rhs.nanoseconds)
  }
  public var description: String { "\(Double(nanoseconds) / 1e9)s" }
}

extension Duration {
  /// Whole nanoseconds, saturating at ±292 years.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : scaled &+ attoseconds / 1_000_000_000
  }
  public var seconds: Double { Double(nanoseconds) / 1e9 }
}
