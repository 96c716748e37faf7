import MediaCore
import Testing

@testable import Egress

@Suite("The time of a job that is paused")
struct JobClockTests {
  private var clock = JobClock()

  private static func time(_ milliseconds: Int) -> MediaTime {
    MediaTime(nanoseconds: 1_000_000_000_000) + .milliseconds(milliseconds)
  }

  /// Milliseconds of the job; nil for what is cut out.
  private func placed(_ milliseconds: Int) -> Int? { clock.placed(Self.time(milliseconds)).map(Self.milliseconds) }
  private func reading(_ milliseconds: Int) -> Int { Self.milliseconds(clock.reading(at: Self.time(milliseconds))) }
  private static func milliseconds(_ time: MediaTime) -> Int { Int((time - Self.time(0)).nanoseconds / 1_000_000) }

  @Test func itIsTheUsualOneWithoutPauses() {
    #expect(placed(500) == 500 && reading(500) == 500 && !clock.isPaused)
  }

  @Test mutating func itStandsStillWhileItIsPaused() {
    let isNews = [clock.pause(at: Self.time(1000)), clock.pause(at: Self.time(1100))]
    #expect(isNews == [true, false] && clock.isPaused && clock.pausedSince == Self.time(1000))
    #expect(placed(999) == 999, "what was before may come late")
    #expect(placed(1000) == nil && placed(5000) == nil && reading(5000) == 1000)
  }

  @Test mutating func itGoesOnWhereItStopped() {
    var isNews = [clock.resume(at: Self.time(0))]
    _ = clock.pause(at: Self.time(1000))
    isNews += [clock.resume(at: Self.time(3000)), clock.resume(at: Self.time(3500))]
    #expect(isNews == [false, true, false] && !clock.isPaused && clock.pausedSince == nil)
    #expect(placed(999) == 999 && placed(2999) == nil && placed(3000) == 1000 && reading(2000) == 1000)
    _ = clock.pause(at: Self.time(4000))
    _ = clock.resume(at: Self.time(4500))
    #expect(placed(3999) == 1999 && placed(4200) == nil && placed(4500) == 2000 && reading(5000) == 2500)
  }

  /// Somebody may lean on the key.
  @Test mutating func aThousandPausesAreNoneTooMany() {
    for pause in 0..<1000 {
      _ = clock.pause(at: Self.time(pause * 10 + 4))
      _ = clock.resume(at: Self.time(pause * 10 + 9))
    }
    #expect(placed(10_000) == 5_000 && placed(9_995) == nil && placed(9_990) == 4_995)
  }

  @Test mutating func theDayKnowsOfPauses() {
    #expect(clock.moment(of: Self.time(500)) == Self.time(500))
    _ = clock.pause(at: Self.time(1000))
    #expect(clock.moment(of: Self.time(1000)) == Self.time(1000), "it ends in a pause")
    _ = clock.resume(at: Self.time(3000))
    _ = clock.pause(at: Self.time(4000))
    _ = clock.resume(at: Self.time(4500))
    for moment in [200, 999, 3100, 3999, 4600, 9000] {
      #expect(clock.placed(Self.time(moment)).map(clock.moment) == Self.time(moment), "\(moment)")
    }
  }
}
