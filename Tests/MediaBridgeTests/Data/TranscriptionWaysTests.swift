import MediaCore
import Testing

@testable import MediaBridge

/// What is said in both of LiveKit's ways is told in one of them.
@Suite struct TranscriptionWaysTests {
  private enum Fate { case told, leftOut }

  private var ways = TranscriptionWays()

  private mutating func say(
    _ said: String, _ way: TranscriptionWays.Way, _ id: String = "1", isFinal: Bool = false, at seconds: Double,
    from origin: String = "PA_agent", of speaker: String = "alice"
  ) -> Fate {
    let segment = TranscriptionWays.Segment(origin: origin, speaker: speaker, way: way, id: id)
    let now = MediaTime(nanoseconds: Int64(seconds * 1e9))
    return ways.counts(said, isFinal: isFinal, of: segment, at: now) ? .told : .leftOut
  }

  @Test(arguments: [TranscriptionWays.Way.text, .message])
  mutating func theWayThatCameFirstLeads(_ first: TranscriptionWays.Way) {
    let second: TranscriptionWays.Way = first == .text ? .message : .text
    for (index, said) in ["Hel", "Hello", "Hello there"].enumerated() {
      #expect(say(said, first, isFinal: index == 2, at: Double(index) * 20) == .told)
      #expect(say(said, second, isFinal: index == 2, at: Double(index) * 20 + 0.01) == .leftOut)
    }
    // Behind a pause the other one may be the first.
    #expect(say("And", second, "2", at: 60) == .leftOut)
    #expect(say("And", first, "2", at: 60.01) == .told)
    #expect(say("And so", second, "2", at: 60.02) == .leftOut)
    #expect(say("And so on", second, "2", isFinal: true, at: 60.03) == .leftOut)
    #expect(say("And so on", first, "2", isFinal: true, at: 60.04) == .told)
  }

  /// A translation, or a transcript that was corrected.
  @Test(arguments: [TranscriptionWays.Way.text, .message])
  mutating func whatTheOtherWayAloneSaysIsToldWhenItIsFinal(_ first: TranscriptionWays.Way) {
    let second: TranscriptionWays.Way = first == .text ? .message : .text
    for turn in 0..<3 {
      let (time, id) = (Double(turn) * 0.5, "\(turn)")
      #expect(say("Tea for \(turn)", first, id, at: time) == .told)
      #expect(say("Tea for \(turn)", second, id, at: time + 0.01) == .leftOut)
      #expect(say("Tee", second, "t\(turn)", at: time + 0.02) == .leftOut)
      #expect(say("Tea for \(turn), two", first, id, isFinal: true, at: time + 0.03) == .told)
      #expect(say("Tea for \(turn), two", second, id, isFinal: true, at: time + 0.04) == .leftOut)
      #expect(say("Tee für \(turn)", second, "t\(turn)", isFinal: true, at: time + 0.05) == .told)
    }
  }

  /// What is final at once may come in the other order, and is told once all the same.
  @Test mutating func theOtherWayMayBeAheadWithWhatIsFinal() {
    #expect(say("one", .text, "1", isFinal: true, at: 0) == .told)
    #expect(say("one", .message, "1", isFinal: true, at: 0.01) == .leftOut)
    #expect(say("two", .message, "2", isFinal: true, at: 10) == .told)
    #expect(say("two", .text, "2", isFinal: true, at: 10.01) == .leftOut)
    // What begins like that is told.
    #expect(say("OK", .message, "3", isFinal: true, at: 20) == .told)
    #expect(say("OK", .text, "3", at: 20.01) == .leftOut)
    #expect(say("OK, go", .text, "3", isFinal: true, at: 20.02) == .told)
  }

  @Test mutating func anIDMayBeUsedAgain() {
    #expect(say("one", .text, isFinal: true, at: 0) == .told)
    #expect(say("one", .message, isFinal: true, at: 0.01) == .leftOut)
    #expect(say("two", .message, isFinal: true, at: 0.02) == .told)
  }

  @Test mutating func whatIsSaidInOneWayAloneIsToldHoweverOftenItComes() {
    for second in 0..<5 { #expect(say("No.", .message, at: Double(second) / 10) == .told) }
    #expect(say("Fine", .text, at: 1) == .told)
    #expect(say("and", .message, "2", at: 1.01) == .told, "each says something else")
    #expect(say("and", .text, "2", at: 9) == .told, "it is said again")
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

  @Test mutating func thousandsThatNeverEndAreToldAll() {
    for number in 0..<3000 { #expect(say("\(number)", .text, "\(number)", at: Double(number)) == .told) }
  }
}
