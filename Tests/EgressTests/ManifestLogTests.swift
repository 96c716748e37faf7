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
    for start in stride(from: 0, to: 3000, by: 20) { log.came(at: .milliseconds(start), for: .milliseconds(20)) }
    log.came(at: .milliseconds(3500), for: .milliseconds(20))
    log.came(at: .milliseconds(8520), for: .milliseconds(20))
    let gap = GapLog.Gap(from: .milliseconds(3520), to: .milliseconds(8520))
    #expect(log.gaps(until: .milliseconds(9000)) == [gap])
    let last = GapLog.Gap(from: .milliseconds(8540), to: .milliseconds(10_000))
    #expect(log.gaps(until: .milliseconds(10_000)) == [gap, last])
  }
}
