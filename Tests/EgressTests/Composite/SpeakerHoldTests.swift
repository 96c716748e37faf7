import MediaCore
import Testing

@testable import Egress

/// Who is large while several speak, and for how long.
@Suite struct SpeakerHoldTests {
  /// Who speaks how loud, from when to when, in seconds.
  private typealias Speech = (sid: String, level: Double, from: Double, to: Double)

  /// - Returns: who is large at each fifth of a second, as changes: "a0.0 b3.2".
  private func course(_ speeches: [Speech], hold: Double, until end: Double = 20) -> String {
    var speaker = SpeakerHold()
    var changes: [String] = []
    var large: String?
    for step in 0..<Int(end * 5) {
      let now = Double(step) / 5
      let tracks = TileTrack.sorted(
        ["a", "b", "c"].map { sid in
          let begun = speeches.filter { $0.sid == sid && $0.from <= now }.max { $0.from < $1.from }
          let isSpeaking = begun.map { now < $0.to } ?? false
          return TileTrack(
            sid: sid, source: .camera,
            speaker: .init(
              identity: sid, joinedAt: sid == "a" ? 1 : 2, isSpeaking: isSpeaking, audioLevel: begun?.level ?? 0,
              lastSpokeAt: begun.map { MediaTime(nanoseconds: 0) + .seconds($0.from) }))
        })
      let chosen = speaker.choose(tracks, hold: .seconds(hold), at: MediaTime(nanoseconds: 0) + .seconds(now))?.sid
      if chosen != large { changes.append("\(chosen ?? "-")\(now)") }
      large = chosen
    }
    return changes.joined(separator: " ")
  }

  @Test func withoutAHoldEachChangeIsFollowed() {
    #expect(course([("a", 0.2, 0, 20), ("b", 0.8, 10, 10.4)], hold: 0) == "a0.0 b10.0 a10.4")
  }

  @Test func aCoughChangesNothingHoweverLongSomebodyWasLarge() {
    #expect(course([("a", 0.2, 0, 20), ("b", 0.8, 10, 10.6)], hold: 2) == "a0.0", "while another one speaks")
    #expect(course([("a", 0.2, 0, 5), ("b", 0.8, 10, 10.6)], hold: 2) == "a0.0", "while all are quiet")
  }

  @Test func whoSpeaksOnBecomesLarge() {
    #expect(course([("a", 0.2, 0, 20), ("b", 0.8, 10, 15)], hold: 2) == "a0.0 b12.0 a15.0", "beside another one")
    #expect(course([("a", 0.2, 0, 9.6), ("b", 0.8, 10, 20)], hold: 2.1) == "a0.0 b11.6", "behind another one")
    #expect(course([("a", 0.2, 0, 5), ("b", 0.8, 10, 20)], hold: 2) == "a0.0 b11.0", "into silence")
    #expect(course([("a", 0.2, 0, 5), ("b", 0.8, 10, 20)], hold: 0.4) == "a0.0 b10.4", "a shorter hold is as quick")
  }

  @Test func aBreathIsNoEnd() {
    let breaths: [Speech] = [("b", 0.8, 10, 10.8), ("b", 0.8, 11.2, 12), ("b", 0.8, 12.4, 20)]
    #expect(course([("a", 0.2, 0, 20)] + breaths, hold: 2) == "a0.0 b12.4")
  }

  /// Who is louder may change with each word; two such do not alternate quicker than was asked for.
  @Test func twoWhoSpeakAtOnceDoNotFlicker() {
    let words: [Speech] = (0..<40).map { ("c", 0.9, Double($0) * 0.5, Double($0) * 0.5 + 0.3) }
    let large = course([("a", 0.5, 0, 20)] + words, hold: 4).split(separator: " ")
    let changes = large.compactMap { Double($0.dropFirst()) }
    #expect(changes.count > 2, "both are seen")
    #expect(zip(changes, changes.dropFirst()).allSatisfy { $1 - $0 >= 4 }, "\(changes)")
  }

  @Test func twoWhoInterruptEachOtherDoNotKeepTheQuietOne() {
    let words: [Speech] = (0..<20).flatMap { word -> [Speech] in
      let begin = 5 + Double(word) * 0.8
      return [("b", 0.8, begin, begin + 0.4), ("c", 0.8, begin + 0.4, begin + 0.8)]
    }
    #expect(course([("a", 0.5, 0, 2)] + words, hold: 2).hasPrefix("a0.0 b6.") == true)
  }
}
