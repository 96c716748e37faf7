import MediaCore
import Testing

@testable import MediaBridge

/// A decoder that begins begins with up to a second of what came before.
@Suite struct DecodedPastTests {
  private let now = MediaTime(nanoseconds: 100_000_000_000)

  @Test func aFirstDecoderMayBeginWithWhatIsKept() {
    let past = DecodedPast(newest: nil, at: now)
    #expect(!past.wasHeard(now - .milliseconds(900), at: now) && past.wasHeard(now - .milliseconds(1100), at: now))
    #expect(!past.wasShown(now - .milliseconds(900), at: now))
  }

  /// Whoever plays by arrival would be late by a second ever after.
  @Test func behindAFailureNobodyHearsWhatWasSaidMeanwhile() {
    let past = DecodedPast(newest: now - .seconds(3), isRetry: true, at: now)
    #expect(past.wasHeard(now - .milliseconds(900), at: now) && past.wasHeard(now - .milliseconds(300), at: now))
    #expect(!past.wasHeard(now - .milliseconds(100), at: now) && !past.wasHeard(now + .milliseconds(20), at: now))
    #expect(!past.wasHeard(now - .milliseconds(900), at: now + .seconds(2)))
  }

  @Test func nobodySeesOrHearsAgain() {
    let past = DecodedPast(newest: now, at: now)
    #expect(past.wasShown(now - .milliseconds(1), at: now) && !past.wasShown(now, at: now))
    #expect(past.wasHeard(now, at: now) && !past.wasHeard(now + .milliseconds(1), at: now))
  }
}
