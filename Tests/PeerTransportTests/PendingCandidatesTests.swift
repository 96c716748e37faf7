import PeerTransport
import Testing

@Suite("Candidates ahead of their description")
struct PendingCandidatesTests {
  @Test func whatComesAheadWaits() {
    var pending = PendingCandidates()
    #expect(pending.isReady("a") == false)
    #expect(pending.isReady("b") == false)
    #expect(pending.described(with: ["own"]) == ["own", "a", "b"])
    #expect(pending.isReady("c") == true)
    // Nothing is added twice.
    #expect(pending.described() == [])
  }

  @Test func ofManyOnlySomeWait() {
    var pending = PendingCandidates()
    for number in 0..<1000 { #expect(pending.isReady("\(number)") == false) }
    let added = pending.described()
    #expect(added.count == 64 && added.last == "63")
    #expect(pending.isReady("late") == true)
  }

  @Test func whatBelongsToTheNextDescriptionWaitsForIt() {
    var pending = PendingCandidates()
    _ = pending.described()
    pending.awaitDescription()
    #expect(!pending.isDescribed)
    #expect(pending.isReady("a") == false)
    #expect(pending.described(with: []) == ["a"])
  }
}
