import MediaCore

/// Counts frames by the second.
struct FrameRate {
  private var begun: MediaTime?
  private var count = 0

  /// Notes a frame.
  /// - Returns: frames a second, once in about a second.
  mutating func count(at time: MediaTime) -> Int? {
    guard let begun, time - begun < .seconds(3) else {
      begun = time
      count = 0
      return nil
    }
    count += 1
    guard time - begun >= .seconds(1) else { return nil }
    let rate = Int((Double(count) / Double((time - begun).nanoseconds) * 1e9).rounded())
    self.begun = time
    count = 0
    return rate
  }
}
