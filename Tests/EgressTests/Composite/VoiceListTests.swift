import Testing

@testable import Egress

@Suite struct VoiceListTests {
  private func track(_ sid: String, _ identity: String, isScreen: Bool = false) -> VoiceList.Track {
    VoiceList.Track(sid: sid, identity: identity, name: identity.uppercased(), isScreen: isScreen)
  }

  @Test func eachHasTheNextTrackAndKeepsIt() {
    var list = VoiceList()
    list.follow([track("1", "alice"), track("2", "bob"), track("3", "alice", isScreen: true)])
    #expect(list.all.map(\.title) == ["ALICE", "BOB", "ALICE (screen)"])
    #expect(list.numbers == ["1": 2, "2": 3, "3": 4])
    list.follow([track("2", "bob")])
    list.follow([track("2", "bob"), track("4", "carol"), track("5", "alice")])
    #expect(list.numbers == ["2": 3, "4": 5, "5": 2])
    #expect(list.all.map(\.number) == [2, 3, 4, 5])
  }

  @Test func twoOfOneAtATimeHaveTwo() {
    var list = VoiceList()
    list.follow([track("1", "alice"), track("2", "alice")])
    #expect(Set(list.numbers.values) == [2, 3])
  }

  @Test func aCrowdIsNoCrowdOfEncoders() {
    var list = VoiceList()
    let crowd = (0...VoiceList.limit).map { track("\($0)", "p\($0)") }
    list.follow(crowd)
    #expect(list.all.count == VoiceList.limit && list.numbers["\(VoiceList.limit)"] == nil)
  }

  @Test func aNameIsShownAsItIsWritten() {
    var list = VoiceList()
    list.follow([VoiceList.Track(sid: "1", identity: "x", name: "a\u{1b}[2J", isScreen: false)])
    #expect(list.all.first?.title == #"a\u{1b}[2J"#)
  }
}
