import Foundation
import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

/// What readers of `frames` and `pcm` are told, called and granted.
@Suite struct RawRulesTests {
  private typealias Piece = RawQueue<Int>.Piece

  private func piece(_ subject: String?, _ number: Int) -> Piece {
    Piece(.bytes([]), made: MediaTime(nanoseconds: 0), subject: subject, note: number)
  }

  @Test func theNewestOfEachMatterIsKept() {
    var needed = NeededPieces<Int>()
    for (number, subject) in ["a", "b", nil, "a", "c"].enumerated() { needed.keep(piece(subject, number)) }
    #expect(needed.all.map(\.note) == [1, 3, 4])
  }

  @Test func whatIsKeptIsBounded() {
    var needed = NeededPieces<Int>()
    for number in 0..<3000 { needed.keep(piece("\(number)", number)) }
    #expect(needed.all.count == 1000 && needed.all.last?.note == 2999)
  }

  @Test func aCommandThatDiesEachTimeIsGivenUp() {
    var limit = RestartLimit()
    let begun = (0..<6).map { _ in limit.mayBegin(afterRunning: .seconds(1)) }
    #expect(begun == [true, true, true, true, true, false] && limit.deaths == 6)
  }

  @Test func oneThatHasRunWellBeginsAnew() {
    var limit = RestartLimit()
    for _ in 0..<20 {
      let begun = [61, 1, 1, 1, 1].map { limit.mayBegin(afterRunning: .seconds($0)) }
      #expect(!begun.contains(false) && limit.deaths == 5)
    }
  }

  @Test func namesOfParticipantsLeadNowhereElse() {
    var names = ParticipantNames()
    let all = ["alice", "Zoë 日", "../../etc/passwd", "-rf\n\u{1b}[2J\u{202e}", ""].map { names.name(of: $0) }
    #expect(all == ["alice", "Zoë 日", "______etc_passwd", "_rf__[2J_", "_"])
    let long = names.name(of: String(repeating: "日", count: 300))
    #expect(long.utf8.count == 198)
  }

  @Test func noTwoParticipantsHaveTheSameName() {
    var names = ParticipantNames()
    let all = ["a/b", "a\\b", "a_b", "a/b", "a_b-2"].map { names.name(of: $0) }
    #expect(all == ["a_b", "a_b-2", "a_b-3", "a_b", "a_b-2-2"])
  }

  @Test func momentsAroundWhatASenderSaidFollow() throws {
    let moment = MediaTime(nanoseconds: 5_000_000_000)
    let date = Date(timeIntervalSince1970: 1000)
    let time = SenderTime(moment, FrameOrigin(rtpTimestamp: 100, clockRate: 48_000, captured: date))
    let later = try #require(time.at(moment + .milliseconds(20)))
    #expect(later.rtp == 1060)
    #expect(abs((later.captured ?? .distantPast).timeIntervalSince1970 - 1000.02) < 1e-6)
    #expect(time.at(moment - .milliseconds(10))?.rtp == UInt32.max - 379, "the timestamp wraps")
    #expect(time.at(moment + .seconds(4)) == nil && time.at(moment - .seconds(4)) == nil)
    let unknown = SenderTime(moment, FrameOrigin(rtpTimestamp: 0, clockRate: 48_000, captured: nil))
    #expect(unknown.at(moment)?.captured == nil && unknown.at(moment)?.rtp == 0)
  }
}
