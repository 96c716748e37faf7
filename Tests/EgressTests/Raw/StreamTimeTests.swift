import MediaCore
import Testing

@testable import Egress

/// The times of one stream's blocks.
@Suite struct StreamTimeTests {
  private let start = MediaTime(nanoseconds: 5_000_000_000)

  /// As before sender reports come: estimates move by 2 % of the time that passes.
  @Test func estimatesThatWanderMoveNothing() {
    var times = StreamTime(rate: 48_000)
    for number in 0..<3000 {
      let wander = Duration.microseconds(min(number, 200) * 400 + number % 7 * 300)
      let time = times.time(
        of: UInt32.max - 5000 &+ UInt32(number * 960), estimate: start + .milliseconds(20 * number) - wander)
      #expect(time - start == .milliseconds(20 * number))
    }
  }

  @Test func whatIsMissingTakesItsTime() {
    var times = StreamTime(rate: 48_000)
    _ = times.time(of: 1000, estimate: start)
    #expect(times.time(of: nil, estimate: start + .milliseconds(21)) == start + .milliseconds(21))
    #expect(times.time(of: 1000 + 3 * 960, estimate: start + .milliseconds(63)) == start + .milliseconds(60))
  }

  /// As after a mute by some senders, or from another encoder.
  @Test func timestampsThatStoodStillOrBeginAnewAreNotBelieved() {
    var times = StreamTime(rate: 48_000)
    _ = times.time(of: 0, estimate: start)
    #expect(times.time(of: 960, estimate: start + .seconds(5)) == start + .seconds(5))
    #expect(times.time(of: 1920, estimate: start + .milliseconds(5025)) == start + .milliseconds(5020))
    let anew = start + .milliseconds(5040)
    #expect(times.time(of: 3_000_000_000, estimate: anew) == anew)
  }

  /// By 100 millionths over three hours.
  @Test func aCrystalThatIsOffIsFollowedSlowly() {
    var times = StreamTime(rate: 48_000)
    var before = start - .milliseconds(20)
    var furthest = Duration.zero
    for number in 0..<540_000 {
      let estimate = start + .nanoseconds(20_002_000 * number)
      let time = times.time(of: UInt32(truncatingIfNeeded: number * 960), estimate: estimate)
      #expect(abs((time - before - .milliseconds(20)).nanoseconds) <= 20_001)
      (before, furthest) = (time, max(furthest, estimate - time))
    }
    #expect(furthest < .milliseconds(30))
  }
}
