import MediaCore
import Testing

@testable import MediaPipelines

@Suite("A limit of the frame rate")
struct FrameRateLimitTests {
  /// - Returns: of the frames that come at `times` in milliseconds, those that are taken.
  private func taken(_ times: [Double], rate: Int) -> [Double] {
    var limit = FrameRateLimit(rate: rate)
    return times.filter { limit.takes(MediaTime(nanoseconds: Int64($0 * 1_000_000))) }
  }

  @Test(arguments: [(30, 15), (25, 20), (60, 30), (50, 15), (25, 25), (15, 30), (10, 10)])
  func asManyAreTakenAsItAllows(fps: Int, rate: Int) {
    // What captures is late by up to a tenth of a frame.
    let times = (0..<(fps * 10)).map { (Double($0) + Double($0 * 7 % 10) / 100) * 1000 / Double(fps) }
    let taken = taken(times, rate: rate)
    #expect(abs(taken.count - min(fps, rate) * 10) <= 2, "\(taken.count)")
    let gaps = zip(taken, taken.dropFirst()).map { $1 - $0 }
    #expect((gaps.max() ?? 0) < 1000 / Double(min(fps, rate)) + 1100 / Double(fps), "\(gaps)")
  }

  @Test func afterAPauseItGoesOn() {
    #expect(taken([0, 10, 5000, 5010, 5066], rate: 15) == [0, 5000, 5066])
  }

  @Test func timesThatGoBackAreTaken() {
    #expect(taken([5000, 0, 10, 67], rate: 15) == [5000, 0, 67])
  }
}
