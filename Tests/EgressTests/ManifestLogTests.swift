import MediaCore
import Testing

@testable import Egress

/// What a manifest tells of times: who spoke, and when nothing came.
@Suite struct ManifestLogTests {
  @Test func aPauseForBreathEndsNoTurn() {
    var log = SpeakerLog()
    log.note(["alice"], at: .seconds(1))
    log.note(["alice", "bob"], at: .seconds(2))
    log.note(["bob"], at: .seconds(3))
    log.note(["alice", "bob"], at: .seconds(3.5))
    log.note([], at: .seconds(5))
    log.note(["alice"], at: .seconds(8))
    #expect(
      log.turns(until: .seconds(9)) == [
        .init(identity: "alice", from: .seconds(1), to: .seconds(5)),
        .init(identity: "bob", from: .seconds(2), to: .seconds(5)),
        .init(identity: "alice", from: .seconds(8), to: .seconds(9)),
      ])
  }

  @Test func aGapIsASecondWithoutAnything() {
    var log = GapLog()
    for start in stride(from: 0.0, to: 3, by: 0.02) { log.came(at: .seconds(start), for: .milliseconds(20)) }
    log.came(at: .seconds(3.5), for: .milliseconds(20))
    log.came(at: .seconds(8.52), for: .milliseconds(20))
    #expect(log.gaps(until: .seconds(9)) == [.init(from: .seconds(3.52), to: .seconds(8.52))])
    #expect(log.gaps(until: .seconds(10)).last == .init(from: .seconds(8.54), to: .seconds(10)))
  }
}
