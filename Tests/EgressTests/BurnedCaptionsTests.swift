import Foundation
import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// What is said, in the frames of its moments.
@Suite struct BurnedCaptionsTests {
  private static let alice = Captions.Speaker(identity: "alice", name: "Alice")
  private static let bob = Captions.Speaker(identity: "bob", name: "Bob")
  private static let carol = Captions.Speaker(identity: "carol", name: "Carol")
  private var burned = BurnedCaptions()

  private func at(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(seconds * 1e9)) }

  private mutating func say(
    _ id: String, _ text: String, _ seconds: Double, isFinal: Bool = true,
    _ speaker: Captions.Speaker = BurnedCaptionsTests.alice
  ) {
    burned.note(
      TranscriptionSegment(
        id: id, text: text, firstReceivedTime: .distantPast, lastReceivedTime: .distantPast, isFinal: isFinal),
      of: speaker, at: at(seconds))
  }

  // MARK: Lines

  @Test func wordsAreWrapped() {
    let lines = CaptionLines("It was a bright cold day in April, and the clocks were striking thirteen.").lines
    #expect(lines == ["It was a bright cold day in April, and the", "clocks were striking thirteen."])
    #expect(CaptionLines(" a\n\nb\t c ", name: "Al\nice").lines == ["Al ice: a b c"])
    #expect(CaptionLines(" \n", name: "Alice").lines.isEmpty && CaptionLines("", name: "Alice").lines.isEmpty)
  }

  @Test func whatIsLongerThanALineBreaksAnywhere() {
    let lines = CaptionLines("a " + String(repeating: "x", count: 50) + " b").lines
    #expect(lines == ["a " + String(repeating: "x", count: 40), String(repeating: "x", count: 10) + " b"])
    let wide = CaptionLines(String(repeating: "漢", count: 30), name: "Bob").lines
    #expect(wide == ["Bob: " + String(repeating: "漢", count: 18), String(repeating: "漢", count: 12)])
  }

  @Test func whateverIsSaidHasLinesThatFit() {
    let hostile =
      "\u{202e}<b>&" + String(repeating: "e\u{301}\u{301}", count: 3000) + "\n" + String(repeating: "👩‍👩‍👧", count: 99)
    let lines = CaptionLines(hostile, name: String(repeating: "n", count: 99)).lines
    #expect(lines.allSatisfy { (1...42).contains($0.count) } && lines[0].hasPrefix("nnnnnnnnnnnnnnnnnnnnnnnn…: <b>&"))
  }

  @Test func whatComesAtOnceRollsUpAsItIsRead() {
    let words = (1...4).map { "\($0) " + String(repeating: "x", count: 40) }
    let lines = CaptionLines(words.joined(separator: " "))
    #expect(lines.lines == words && lines.reading == .milliseconds(8400))
    for (age, first) in [(-0.1, 0), (2, 0), (2.2, 1), (4.3, 2), (60, 2)] {
      #expect(Array(lines.seen(at: .seconds(age))) == Array(words[first..<first + 2]), "\(age)")
    }
    #expect(lines.next(after: .zero) == .milliseconds(2100) && lines.next(after: .seconds(5)) == nil)
    #expect(lines.readingOfLast == .milliseconds(4200))
  }

  // MARK: Times

  @Test mutating func aSegmentIsSeenFromItsMomentOnUntilItIsRead() {
    say("1", "Hello, this is a test.", 10)
    #expect(burned.text(at: at(9.99)).isEmpty)
    #expect(burned.text(at: at(10)) == "Hello, this is a test.")
    #expect(burned.text(at: at(11.09)) == "Hello, this is a test.")
    #expect(burned.text(at: at(11.1)).isEmpty, "22 letters")
    say("2", "Yes.", 12)
    #expect(burned.text(at: at(12.9)) == "Yes." && burned.text(at: at(13)).isEmpty)
  }

  @Test mutating func whatIsNotFinalGrowsInItsPlace() {
    say("1", "It was a bright", 10, isFinal: false)
    say("1", "It was a bright cold day in April, and the clocks", 13, isFinal: false)
    #expect(burned.text(at: at(12.9)) == "It was a bright")
    #expect(burned.text(at: at(13)) == "It was a bright cold day in April, and the\nclocks")
    say("1", "It was a bright cold day in April, and the clocks were striking thirteen. Winston Smith", 16)
    #expect(burned.text(at: at(15.9)).hasSuffix("\nclocks"))
    #expect(
      burned.text(at: at(16)) == "clocks were striking thirteen. Winston\nSmith", "the first line was read meanwhile")
    #expect(!burned.text(at: at(18)).isEmpty && burned.text(at: at(18.3)).isEmpty)
  }

  @Test mutating func whatNobodyEndsGoes() {
    say("1", "Hello", 10, isFinal: false)
    #expect(burned.text(at: at(19.9)) == "Hello" && burned.text(at: at(20)).isEmpty)
    say("2", "Hm", 30, isFinal: false)
    say("2", "", 31)
    #expect(burned.text(at: at(30.9)) == "Hm" && burned.text(at: at(31)).isEmpty, "it was none")
  }

  @Test mutating func theNextReplacesTheOneBefore() {
    say("1", "Hello, this is a test of what is said.", 10)
    say("2", "And", 11, isFinal: false)
    say("1", "Hello, this is a late test.", 11.2)
    #expect(burned.text(at: at(10.9)) == "Hello, this is a test of what is said.")
    #expect(burned.text(at: at(11)) == "And" && burned.text(at: at(11.3)) == "And")
  }

  @Test mutating func whatIsToldOnceMoreIsSeenNoLonger() {
    for (index, text) in ["Hel", "Hello", "Hello there"].enumerated() {
      say("SG_1", text, 10 + Double(index), isFinal: index == 2)
      #expect(burned.text(at: at(10.1 + Double(index))) == text)
    }
    say("SG_1", "Hello there", 12.5)
    #expect(burned.text(at: at(12.99)) == "Hello there")
    #expect(burned.text(at: at(13)).isEmpty, "telling it once more keeps it no longer")
    say("SG_2", "Hello there", 14)
    #expect(burned.text(at: at(14)) == "Hello there", "it is said again")
    say("SG_3", "Hello there", 14.2)
    #expect(burned.text(at: at(15.1)) == "Hello there", "and again, so that it is seen for longer")
  }

  // MARK: Speakers

  @Test mutating func severalWhoSpeakAreNamed() {
    say("1", "Hello", 10, isFinal: false)
    #expect(burned.text(at: at(10)) == "Hello")
    say("1", "Hi", 11, isFinal: false, Self.bob)
    #expect(burned.text(at: at(11)) == "Alice: Hello\nBob: Hi")
    say("1", "Me too", 12, isFinal: false, Self.carol)
    #expect(burned.text(at: at(12)) == "Bob: Hi\nCarol: Me too", "who was quiet for longest makes room")
    say("1", "Hello?", 13, Self.alice)
    #expect(burned.text(at: at(13)) == "Carol: Me too\nAlice: Hello?")
    #expect(burned.text(at: at(60)).isEmpty)
    say("2", "Alone", 70)
    #expect(burned.text(at: at(70)) == "Alice: Alone")
  }

  @Test mutating func whatNoFrameAsksForFillsNoMemory() {
    for number in 0..<1000 { say("1", "\(number)", 10 + Double(number) / 100, isFinal: false) }
    #expect(burned.text(at: at(10)) == "", "those are left out")
    #expect(burned.text(at: at(19.5)) == "950" && burned.text(at: at(20)) == "999")
  }
}
