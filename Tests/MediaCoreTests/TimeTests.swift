import MediaCore
import Testing

@Suite("Times")
struct TimeTests {
  @Test func unixEpochInNTP() {
    let time = NTPTime(unixNanoseconds: 1_500_000_000)
    #expect(time.rawValue == UInt64(2_208_988_801) << 32 | 0x8000_0000)
    #expect(time.nanoseconds == 2_208_988_801_500_000_000)
    #expect(time.middle == UInt32(truncatingIfNeeded: time.rawValue >> 16))
  }

  @Test(arguments: [-68 * 31_536_000.0, -1.25, 0, 0.000001, 1.5, 3600, 68 * 31_536_000.0])
  func arithmeticIsItsOwnInverse(seconds: Double) {
    let start = NTPTime(rawValue: 0xffff_ffff_8000_0000)
    let duration = Duration.seconds(seconds)
    let error = start.advanced(by: duration).since(start) - duration
    #expect(abs(error.nanoseconds) <= 1)
  }

  @Test func mediaTimeAndDurations() {
    let time = MediaTime(nanoseconds: 1_000)
    #expect(time + .milliseconds(1) == MediaTime(nanoseconds: 1_001_000))
    #expect(time - MediaTime(nanoseconds: 3_000) == .nanoseconds(-2_000))
    #expect((time - .nanoseconds(1)).nanoseconds == 999)
    #expect(Duration.seconds(Int64.max / 2).nanoseconds == .max)
    #expect(Duration.milliseconds(250).seconds == 0.25)
  }

  /// Nobody lets a machine sleep for a test.
  @Test func sleepIsWhatOneClockCountsAndTheOtherDoesNot() {
    let (sleep, uptime, now) = (MediaTime.sleep, MediaTime.uptime, MediaTime.now)
    #expect(abs((uptime - sleep - .nanoseconds(now.nanoseconds)).seconds) < 1)
  }
}
