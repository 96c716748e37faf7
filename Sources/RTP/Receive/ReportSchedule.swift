import MediaCore

/// When a reception report is due: half an interval after the first packet, later one in each interval in which something
/// came (RFC 3550, 6.2 and 6.4).
struct ReportSchedule: Sendable {
  private let interval: Duration
  private var next: MediaTime?

  init(every interval: Duration) { self.interval = interval }

  /// A packet came; only the first one matters.
  mutating func begin(at time: MediaTime) {
    if next == nil { next = time + interval / 2 }
  }

  /// - Parameter hasNews: whether something came since the last report.
  func deadline(hasNews: Bool) -> MediaTime? { hasNews ? next : nil }

  /// True when a report is to be sent now.
  mutating func poll(at time: MediaTime, hasNews: Bool) -> Bool {
    guard let next, next <= time, hasNews else { return false }
    self.next = time + interval
    return true
  }
}
