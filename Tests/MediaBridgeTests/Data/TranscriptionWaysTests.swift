import MediaCore
import Testing

@testable import MediaBridge

/// What is said in both of LiveKit's ways is told in one of them.
@Suite struct TranscriptionWaysTests {
  private enum Fate { case told, leftOut }

  private var ways = TranscriptionWays()

  private mutating func say(
    _ said: String, _ way: TranscriptionWays.Way, at seconds: Double, from origin: String = "PA_agent",
    of speaker: String = "alice"
  ) -> Fate {
    let now = MediaTime(nanoseconds: Int64(seconds * 1e9))
    return ways.counts(said, in: way, from: origin, of: speaker, at: now) ? .told : .leftOut
  }

  @Test(arguments: [TranscriptionWays.Way.text, .message])
  mutating func theWayThatCameFirstCounts(_ first: TranscriptionWays.Way) {
    let second: TranscriptionWays.Way = first == .text ? .message : .text
    for (index, said) in ["Hel", "Hello", "Hello there"].enumerated() {
      #expect(say(said, first, at: Double(index) * 20) == .told)
      #expect(say(said, second, at: Double(index) * 20 + 0.01) == .leftOut)
    }
    // Behind a pause the other one may be the first.
    #expect(say("And", second, at: 60) == .leftOut)
    #expect(say("And", first, at: 60.01) == .told)
    #expect(say("And so", second, at: 60.02) == .leftOut)
    #expect(say("And so on", first, at: 60.03) == .told)
  }

  /// It is not known which of both a program goes on with.
  @Test mutating func theOtherWayCountsWhereItGoesOnAlone() {
    #expect(say("one", .text, at: 0) == .told)
    #expect(say("one", .message, at: 0.01) == .leftOut)
    #expect(say("two", .message, at: 10) == .leftOut)
    #expect(say("two and", .message, at: 12) == .leftOut)
    #expect(say("two and three", .message, at: 13) == .told)
    #expect(say("four", .message, at: 14) == .told)
    #expect(say("four", .text, at: 14.01) == .leftOut)
  }

  /// A long text is not told with each letter, and goes on all the same.
  @Test mutating func whatIsToldLaterGoesOn() {
    #expect(say("one", .text, at: 0) == .told)
    #expect(say("one", .message, at: 0.01) == .leftOut)
    for second in 1..<20 {
      ways.goOn(in: .text, from: "PA_agent")
      #expect(say("one \(second)", .message, at: Double(second)) == .leftOut)
    }
  }

  @Test mutating func whatIsSaidInOneWayAloneIsToldHoweverOftenItComes() {
    for second in 0..<5 { #expect(say("No.", .message, at: Double(second) / 10) == .told) }
    #expect(say("Fine", .text, at: 1) == .told)
    #expect(say("and", .message, at: 1.01) == .told, "each says something else")
    #expect(say("and", .text, at: 9) == .told, "it is said again")
  }

  @Test mutating func eachSpeakerAndEachProgramHasAWay() {
    #expect(say("Yes", .text, at: 0) == .told)
    #expect(say("Yes", .message, at: 0.01, of: "bob") == .told)
    #expect(say("Yes", .message, at: 0.02, from: "PA_other") == .told)
    #expect(say("Yes", .message, at: 0.03) == .leftOut)
    ways.cut(from: "PA_agent")
    #expect(say("Yes", .message, at: 0.04) == .told)
    #expect(say("Yes", .text, at: 0.05, from: "PA_other") == .leftOut)
  }
}
