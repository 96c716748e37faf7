import MediaCore

/// Finds freezes and pauses in the times at which frames are shown ("Identifiers for WebRTC's Statistics API",
/// freezeCount and pauseCount).
struct FreezeDetector: Sendable {
  private(set) var freezeCount = 0
  private(set) var totalFreezes = Duration.zero
  private(set) var pauseCount = 0
  private(set) var totalPauses = Duration.zero

  private static let window = 30
  /// With fewer intervals an average says nothing; libwebrtc asks for as many.
  private static let fewest = 5
  private static let shortestIncrease: Int64 = 150_000_000
  private static let longestFreeze = Duration.seconds(5)

  private var last: MediaTime?
  /// The newest intervals in nanoseconds, overwritten in turn, and their sum.
  private var intervals: [Int64] = []
  private var next = 0
  private var sum: Int64 = 0

  /// A frame is shown.
  mutating func show(at time: MediaTime) {
    defer { last = time }
    guard let last, time > last else { return }
    let interval = time - last
    guard interval <= Self.longestFreeze else {
      pauseCount += 1
      totalPauses += interval
      return
    }
    if isFreeze(interval.nanoseconds) {
      freezeCount += 1
      totalFreezes += interval
    }
    note(interval.nanoseconds)
  }

  /// What follows is no freeze, however long it takes: nothing is meant to be shown.
  mutating func interrupt() { last = nil }

  /// Counts those of another one, too.
  mutating func add(_ other: FreezeDetector) {
    freezeCount += other.freezeCount
    totalFreezes += other.totalFreezes
    pauseCount += other.pauseCount
    totalPauses += other.totalPauses
  }

  private func isFreeze(_ interval: Int64) -> Bool {
    guard intervals.count >= Self.fewest else { return false }
    let average = sum / Int64(intervals.count)
    return interval >= max(3 * average, average + Self.shortestIncrease)
  }

  private mutating func note(_ interval: Int64) {
    sum += interval
    if intervals.count < Self.window {
      intervals.append(interval)
    } else {
      sum -= intervals[next]
      intervals[next] = interval
      next = (next + 1) % Self.window
    }
  }
}
