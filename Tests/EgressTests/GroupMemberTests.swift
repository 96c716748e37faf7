import MediaBridge
import MediaCore
import PipelineTemplates
import Testing

@testable import Egress

/// Who of a group is tried again, and what is known of all of them.
@Suite struct GroupMemberTests {
  private let encrypted = LiveKitError(.encrypted, "the microphone of alice is encrypted end to end")
  private let silent = LiveKitError(.noMedia, "nothing of alice has come in 12 s, though it was not muted")

  /// Of alice, who is over.
  private func member(_ failure: LiveKitError? = nil, hasBegun: Bool = false, hasFailed: Bool = false) -> GroupMember {
    GroupMember(
      name: "alice", destinations: [Destination(location: "alice.mkv")], course: .over(OutputProgress(), []),
      sids: ["TR_camera"], hasBegun: hasBegun, failure: failure, hasFailed: hasFailed)
  }

  @Test func whatWasRefusedIsRefusedAgainButNotWhatIsPublishedInstead() {
    var members = GroupMembers()
    members.add(member(encrypted))
    #expect(!members.mayBegin("alice", with: ["TR_camera"]))
    #expect(members.mayBegin("alice", with: ["TR_camera", "TR_microphone"]))
    #expect(members.mayBegin("bob", with: ["TR_camera"]))
  }

  @Test func whoComesBackIsTriedAgain() {
    for failed in [member(encrypted), member(hasBegun: true, hasFailed: true)] {
      var members = GroupMembers()
      members.add(failed)
      #expect(!members.mayBegin("alice", with: ["TR_camera"]))
      members.note([:], isPaused: false, at: .now)
      #expect(members.mayBegin("alice", with: ["TR_camera"]))
    }
  }

  @Test func whoHadNoAddressHasOneOnceTheOtherHasLeft() {
    var members = GroupMembers()
    var clash = member(LiveKitError(.output, "it is bob's"))
    clash.isClash = true
    members.add(clash)
    #expect(!members.mayBegin("alice", with: ["TR_camera"], isClash: true))
    #expect(members.mayBegin("alice", with: ["TR_camera"], isClash: false))
  }

  /// It is said, since the group waits for others.
  @Test func whereNobodyCanBeRecordedThatIsKnown() {
    var members = GroupMembers()
    #expect(members.hopelessness(naming: 5) == nil, "nobody is there")
    members.add(member(encrypted))
    #expect(members.hopelessness(naming: 5) == encrypted)
    members.note([:], isPaused: false, at: .now)
    #expect(members.hopelessness(naming: 5) == nil, "she has left")
    for hopeful in [member(silent), member(hasBegun: true)] {
      var members = GroupMembers()
      members.add(hopeful)
      #expect(members.hopelessness(naming: 5) == nil, "something may come")
    }
  }

  @Test func whatSentNothingMaySendSomethingNow() {
    var members = GroupMembers()
    members.add(member(silent))
    #expect(members.mayBegin("alice", with: ["TR_camera"]))
  }

  /// What was sent meanwhile is in no file.
  @Test func whoWasRefusedAtFirstIsALackAlsoOnceTheyAreRecorded() {
    let cases: [(LiveKitError, LiveKitError.Code?)] = [(encrypted, .encrypted), (silent, nil)]
    for (failure, lack) in cases {
      var members = GroupMembers()
      members.add(member(failure))
      #expect(members.lack == failure && members.takes(of: "alice") == 0)
      members.add(member(hasBegun: true))
      #expect(members.all.count == 1 && members.takes(of: "alice") == 1)
      #expect(members.lack?.code == lack)
    }
  }

  /// However long it takes to complete what was to become of them.
  @Test func whoHasGoneIsMissedNoMore() {
    let (came, task) = (MediaTime.now, Task<Void, Never> {})
    let alice = RecorderGroup.Present(identity: "alice", isMuted: false, sids: ["TR_camera"])
    for (seconds, isMissed) in [(9, false), (11, true)] {
      var one = member()
      one.course = .running(Recorder(room: Room(), options: RecordingOptions(file: "alice.mkv")), task)
      var members = GroupMembers()
      members.add(one)
      members.note(["alice": alice], isPaused: false, at: came)
      members.note([:], isPaused: false, at: came + .seconds(seconds))
      members.note([:], isPaused: false, at: came + .seconds(seconds + 5))
      #expect((members.lack != nil) == isMissed, "\(seconds)")
    }
  }

  @Test func theLossOfAGroupIsThatOfAllItsMembers() {
    var whole = OutputProgress()
    whole.members = [(0, 100), (12, 88)].enumerated().map { number, packets in
      var status = DestinationStatus(Destination(location: "\(number).mkv"), .active)
      status.tracks = [
        OutputTrack(
          sid: "TR_\(number)", kind: .audio, codec: "opus", isPassthrough: true, packetsReceived: packets.1,
          packetsLost: packets.0)
      ]
      return OutputProgress(destinations: [status])
    }
    whole.destinations = whole.members.flatMap(\.destinations)
    #expect(whole.loss == 0.06)
    #expect(whole.destinations.map(\.tracks.loss) == [0, 0.12] && whole.members.map(\.loss) == [0, 0.12])
  }
}
