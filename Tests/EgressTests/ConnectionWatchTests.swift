import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// Since when nothing comes over a connection that was lost.
@Suite struct ConnectionWatchTests {
  private let begin = MediaTime(nanoseconds: 1_000_000_000_000)
  private var watch = ConnectionWatch()

  /// Something has come before.
  private mutating func lose(for seconds: Int) {
    for second in 0...seconds {
      watch.note(.reconnecting, isAwaited: true, packets: 100, at: begin + .seconds(second))
    }
  }

  @Test mutating func nothingComesSinceTheLoss() {
    lose(for: 300)
    #expect(watch.since == begin)
    // Whoever leaves the room meanwhile misses what would have come.
    watch.note(.disconnected, isAwaited: false, packets: 100, at: begin + .seconds(301))
    #expect(watch.since == begin)
  }

  /// Only the signalling is away.
  @Test mutating func mediaThatGoesOnIsNoLoss() {
    for second in 0..<30 {
      watch.note(.reconnecting, isAwaited: true, packets: 100 + 50 * second, at: begin + .seconds(second))
      #expect(watch.since == begin + .seconds(second))
    }
    watch.note(.reconnecting, isAwaited: true, packets: 1600, at: begin + .seconds(31))
    watch.note(.reconnecting, isAwaited: true, packets: 1600, at: begin + .seconds(35))
    #expect(watch.since == begin + .seconds(31), "now the media is, too")
  }

  @Test mutating func whatComesAgainEndsIt() {
    lose(for: 8)
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(9))
    #expect(watch.since == begin, "the tracks are not back yet")
    watch.note(.connected, isAwaited: true, packets: 101, at: begin + .seconds(10))
    #expect(watch.since == nil)
    watch.note(.reconnecting, isAwaited: true, packets: 900, at: begin + .seconds(60))
    #expect(watch.since == begin + .seconds(60), "another loss")
  }

  /// Who is muted, or has gone meanwhile, sends nothing.
  @Test mutating func aConnectionThatIsBackEndsItWhereNothingIsToCome() {
    lose(for: 8)
    watch.note(.connected, isAwaited: false, packets: 100, at: begin + .seconds(9))
    #expect(watch.since == nil)
  }

  @Test mutating func whatDoesNotComeBackIsNotWaitedForForEver() {
    lose(for: 8)
    for second in 9..<19 {
      watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(second))
      #expect(watch.since == begin)
    }
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(19))
    #expect(watch.since == nil)
  }

  /// Lost again before anything had come.
  @Test mutating func aLossThatGoesOnIsTheSame() {
    lose(for: 3)
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(4))
    watch.note(.reconnecting, isAwaited: true, packets: 100, at: begin + .seconds(12))
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(16))
    #expect(watch.since == begin)
  }

  /// A cable that is pulled is noticed when pings are not answered.
  @Test mutating func whatIsNoticedLateIsCountedFromWhenNothingCame() {
    for second in 0...5 {
      watch.note(.connected, isAwaited: true, packets: 50 * second, at: begin + .seconds(second))
    }
    for second in 6..<20 { watch.note(.connected, isAwaited: true, packets: 250, at: begin + .seconds(second)) }
    watch.note(.reconnecting, isAwaited: true, packets: 250, at: begin + .seconds(20))
    #expect(watch.since == begin + .seconds(5))
  }

  /// An agent that has said nothing for an hour was connected for that long.
  @Test mutating func aLossIsNoticedInHalfAMinute() {
    watch.note(.connected, isAwaited: true, packets: 100, at: begin)
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(3600))
    watch.note(.reconnecting, isAwaited: true, packets: 100, at: begin + .seconds(3601))
    #expect(watch.since == begin + .seconds(3571))
  }

  @Test mutating func whoIsMutedIsNotMissedFromThenOn() {
    watch.note(.connected, isAwaited: true, packets: 100, at: begin)
    watch.note(.connected, isAwaited: false, packets: 100, at: begin + .seconds(20))
    #expect(!watch.isQuiet(at: begin + .seconds(21)))
    watch.note(.reconnecting, isAwaited: false, packets: 100, at: begin + .seconds(21))
    #expect(watch.since == begin + .seconds(21))
  }

  @Test mutating func aSilenceMayBeALossThatNobodyNoticed() {
    #expect(!watch.isQuiet(at: begin), "nothing has come yet")
    watch.note(.connected, isAwaited: true, packets: 100, at: begin)
    #expect(!watch.isQuiet(at: begin + .seconds(2)))
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(4))
    #expect(watch.isQuiet(at: begin + .seconds(4)))
    watch.lose()
    #expect(watch.since == begin)
    #expect(!watch.isQuiet(at: begin + .seconds(5)), "it is known")
  }

  /// An agent that has nothing to say, while the signalling alone is made anew.
  @Test mutating func whatIsAnsweredIsNoLoss() {
    watch.note(.connected, isAwaited: true, packets: 100, at: begin)
    watch.note(.connected, isAwaited: true, packets: 100, at: begin + .seconds(25))
    watch.hear(at: begin + .seconds(26))
    watch.note(.reconnecting, isAwaited: true, packets: 100, at: begin + .seconds(26))
    #expect(watch.since == begin + .seconds(26))
  }

  @Test mutating func itLooksNowAndThenUntilSomethingIsLost() {
    #expect(watch.isDue(.connected, at: begin))
    watch.note(.connected, isAwaited: true, packets: 100, at: begin)
    #expect(!watch.isDue(.connected, at: begin + .milliseconds(400)))
    #expect(watch.isDue(.reconnecting, at: begin + .milliseconds(400)))
    #expect(watch.isDue(.connected, at: begin + .seconds(2)))
    watch.note(.reconnecting, isAwaited: true, packets: 100, at: begin + .seconds(2))
    #expect(watch.isDue(.connected, at: begin + .milliseconds(2100)), "back, and nothing has come")
  }
}
