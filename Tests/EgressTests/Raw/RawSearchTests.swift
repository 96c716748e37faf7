import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

/// What is told while `frames`, `pcm` and `view` wait for media.
@Suite struct RawSearchTests {
  private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(nanoseconds: milliseconds * 1_000_000) }

  private func participant(_ identity: String, _ sources: [Track.Source], isMuted: Bool = false) -> RemoteParticipant {
    let participant = RemoteParticipant(info: .init(sid: "PA_\(identity)", identity: identity))
    for source in sources {
      let info = TrackInfo(
        sid: "TR_\(identity)_\(source.optionName)", name: "", kind: source.kind, source: source, mimeType: "",
        mimeTypes: [], isMuted: isMuted, dimensions: nil, simulcasted: false, layers: [])
      participant.insert(
        RemoteTrackPublication(Subscription(info, of: identity, isWanted: false), requests: NoRequests()))
    }
    return participant
  }

  @Test func aMistypedNameIsNoticed() {
    let people = [participant("alice", [.microphone])]
    let choice = RawChoice(kind: .audio, participants: ["alcie"])
    var search = RawSearch()
    #expect(search.news(of: choice, among: people, at: at(1000)) == "the audio of alcie")
    #expect(search.news(of: choice, among: people, at: at(2000)) == nil, "once")
    let told = search.news(of: choice, among: people, at: at(3000))
    #expect(told == "the audio of alcie (alice is there: did you mean alice?)")
    #expect(search.news(of: choice, among: people, at: at(4000)) == nil, "once")
  }

  @Test func whatIsThereInsteadIsTold() {
    let (alice, bob) = (participant("alice", [.camera]), participant("bob", []))
    func hint(_ participants: [String] = [], sids: Set<String> = []) -> String? {
      RawChoice(kind: .audio, participants: participants, sids: sids).hint(among: [alice, bob])
    }
    #expect(hint(["alice"]) == "there is only the camera of alice")
    #expect(hint() == "there is only the camera of alice")
    #expect(hint(sids: ["TR_none"]) == "there is only the camera TR_alice_camera of alice")
    #expect(hint(["bob"]) == "bob is there, but without tracks")
    #expect(hint(["guest-*"]) == "alice and bob are there")
    #expect(hint(["guest-*", "bbo"]) == "alice and bob are there: did you mean bob?")
    #expect(RawChoice(kind: .video).hint(among: [alice, bob]) == nil, "that is what is waited for")
    #expect(RawChoice(kind: .video).hint(among: [bob]) == nil)
  }

  @Test func whoIsMutedIsToldOf() {
    let audio = RawChoice(kind: .audio)
    let muted = participant("alice", [.microphone], isMuted: true)
    var search = RawSearch()
    #expect(search.news(of: audio, among: [muted], at: at(0)) == "alice to unmute the microphone")
    #expect(search.news(of: audio, among: [muted], at: at(5000)) == nil, "once")
    let another = participant("bob", [.microphone], isMuted: true)
    #expect(search.news(of: audio, among: [muted, another], at: at(5000)) == "somebody to unmute the microphone")
    let open = participant("carol", [.microphone])
    #expect(search.news(of: audio, among: [muted, open], at: at(6000)) == nil, "it is to come")
  }
}
