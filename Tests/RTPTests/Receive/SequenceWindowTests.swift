import MediaCore
import Testing

@testable import RTP

@Suite("Numbers of a received stream (RFC 3550, A.1)")
struct SequenceWindowTests {
  @Test func gapsLatePacketsAndDuplicatesAcrossTheWrap() {
    var window = SequenceWindow()
    #expect(window.insert(SequenceNumber(65534)) == .newest(65534, missing: 65534..<65534))
    #expect(window.insert(SequenceNumber(1)) == .newest(65537, missing: 65535..<65537))
    #expect(window.insert(SequenceNumber(65535)) == .late(65535))
    #expect(window.insert(SequenceNumber(65535)) == .duplicate)
    #expect(window.insert(SequenceNumber(1)) == .duplicate)
    #expect(window.contains(65535) && !window.contains(65536) && window.contains(65537))
    window.mark(65536)
    #expect(window.insert(SequenceNumber(0)) == .duplicate)
  }

  @Test func aJumpIsBelievedOnceConfirmed() {
    var window = SequenceWindow()
    _ = window.insert(SequenceNumber(100))
    #expect(window.insert(SequenceNumber(20000)) == .outside)
    #expect(window.insert(SequenceNumber(101)) == .newest(101, missing: 101..<101))
    #expect(window.insert(SequenceNumber(20000)) == .outside)
    #expect(window.insert(SequenceNumber(20001), mayRestart: false) == .outside)
    guard case .restarted(let number) = window.insert(SequenceNumber(20001)) else {
      return #expect(Bool(false), "not restarted")
    }
    #expect(number == 20001, "as the sender counts")
    #expect(window.insert(SequenceNumber(20003)) == .newest(number + 2, missing: (number + 1)..<(number + 2)))
  }

  @Test(arguments: [(40_000, 5001, 70_537), (5000, 101, 65_637)] as [(UInt16, UInt16, Int64)])
  func aJumpMeansNoNumberTwice(highest: UInt16, number: UInt16, extended: Int64) {
    var window = SequenceWindow()
    _ = window.insert(SequenceNumber(highest))
    _ = window.insert(SequenceNumber(number - 1))
    #expect(window.insert(SequenceNumber(number)) == .restarted(extended))
  }

  @Test func retransmissionCannotBegin() {
    var window = SequenceWindow()
    #expect(window.insert(SequenceNumber(5), mayRestart: false) == .outside)
  }

  /// Against a set that remembers everything.
  @Test(arguments: 0..<10)
  func agreesWithASet(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var window = SequenceWindow()
    var seen: Set<Int64> = []
    var highest: Int64 = 60_000
    _ = window.insert(SequenceNumber(UInt16(highest)))
    seen.insert(highest)
    for _ in 0..<10_000 {
      let number = max(60_000, highest + Int64.random(in: -2000...(random.chance(0.01) ? 2500 : 300), using: &random))
      let verdict = window.insert(SequenceNumber(UInt16(truncatingIfNeeded: number)))
      if seen.contains(number) {
        #expect(verdict == .duplicate)
      } else if number > highest {
        #expect(verdict == .newest(number, missing: (highest + 1)..<number))
      } else {
        #expect(verdict == .late(number))
      }
      seen.insert(number)
      highest = max(highest, number)
    }
  }
}
