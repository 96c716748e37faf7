import Testing

@testable import MediaPipelines

@Suite struct FrameIntervalTests {
  /// Frames at 25 a second; which of them pass.
  private func passing(_ interval: Duration, _ frames: some Sequence<Int>) -> [Int] {
    var pace = FrameInterval(interval)
    return frames.filter { pace.passes(at: .milliseconds($0 * 40)) }
  }

  @Test func theFirstOnePassesAndThenOneEverySoOften() {
    #expect(passing(.seconds(1), 0..<60) == [0, 25, 50])
    #expect(passing(.seconds(1), 3..<60) == [3, 25, 50])
    #expect(passing(.milliseconds(40), 0..<5) == [0, 1, 2, 3, 4])
  }

  /// What comes late moves nothing that follows, and nothing is made up for.
  @Test func afterAPauseItGoesOnAsBefore() {
    #expect(passing(.seconds(1), [0, 30, 31, 49, 50, 120, 124, 125]) == [0, 30, 50, 120, 125])
  }
}
