import MediaCore
import Testing

@testable import Egress

@Suite("How long a recorder searches")
struct SearchProgressTests {
  private final class Participant: Sendable {}
  private let alice = Participant()
  private let bob = Participant()
  private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(nanoseconds: milliseconds * 1_000_000) }

  @Test func whatIsWaitedForIsToldOnce() {
    var progress = SearchProgress<Participant>()
    #expect(progress.isNews("alice") == true)
    #expect(progress.isNews("alice") == false)
    #expect(progress.isNews("media of alice") == true)
    // While something flows nothing is waited for in words.
    _ = progress.flows(alice, at: at(0))
    #expect(progress.isNews("bob") == false)
  }

  @Test func theOtherTracksOfOneParticipantAreWaitedForOnce() {
    var progress = SearchProgress<Participant>()
    #expect(progress.flows(alice, at: at(1000)) == at(3000))
    #expect(progress.flows(alice, at: at(2000)) == at(3000))
    #expect(progress.nextDeadline == at(3000))
    #expect(progress.isFirst(alice) && !progress.isFirst(bob))
    #expect(progress.flows(bob, at: at(2500)) == at(4500))
    progress.lost()
    #expect(progress.nextDeadline == nil)
    #expect(progress.flows(bob, at: at(5000)) == at(7000))
  }

  @Test func whoIsThereInsteadIsToldOnce() {
    var progress = SearchProgress<Participant>()
    #expect(progress.takesLong(at: at(1000)) == false)
    #expect(progress.nextDeadline == at(3000))
    #expect(progress.takesLong(at: at(2999)) == false)
    #expect(progress.takesLong(at: at(3000)) == true)
    #expect(progress.nextDeadline == nil, "it does not look again and again")
    progress.note(hint: nil)
    progress.note(hint: "alice is there")
    progress.note(hint: "alice and bob are there")
    #expect(progress.hint == "alice is there")
  }

  @Test func aCensusNamesWhoIsThereAndWhatTheyPublish() {
    #expect(RoomCensus(people: []).names == nil && RoomCensus(people: []).published == nil)
    let alice = RoomCensus.Person(identity: "alice", tracks: ["microphone", "camera"])
    let bob = RoomCensus.Person(identity: "bob", tracks: [])
    #expect(RoomCensus(people: [alice]).names == "alice is there")
    let both = RoomCensus(people: [bob, alice])
    #expect(both.names == "alice and bob are there")
    #expect(both.nearest("alcie") == "alice" && both.nearest("carol") == nil)
    #expect(both.published == "the camera of alice and the microphone of alice")
    let crowd = RoomCensus(people: (1...9).map { RoomCensus.Person(identity: "p\($0)", tracks: []) })
    #expect(crowd.names == "p1, p2, p3, p4, p5 and 4 more are there")
  }

  @Test func withoutHopeItIsOverInAMoment() {
    var progress = SearchProgress<Participant>()
    #expect(progress.isOver(at: at(1000)) == false)
    #expect(progress.nextDeadline == at(3000))
    #expect(progress.isOver(at: at(2999)) == false)
    #expect(progress.isOver(at: at(3000)) == true)
    progress.hasHope()
    #expect(progress.nextDeadline == nil)
    #expect(progress.isOver(at: at(4000)) == false)
  }
}
