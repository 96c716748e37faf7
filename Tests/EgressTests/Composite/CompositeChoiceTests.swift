import Testing

@testable import Egress

/// Who is seen and heard in a composite.
@Suite struct CompositeChoiceTests {
  private func choice(_ participants: [String] = [], only participant: String? = nil) -> CompositeChoice {
    var options = CompositeOptions(file: "a.mkv")
    (options.participants, options.participant) = (participants, participant)
    return options.choice
  }

  private func of(_ choice: CompositeChoice) -> [String] {
    ["alice", "bob", "guest-1", "guest-22", "guest-*"].filter(choice.includes)
  }

  @Test func withoutAChoiceAllAre() {
    #expect(of(choice()) == ["alice", "bob", "guest-1", "guest-22", "guest-*"])
    #expect(choice().includes(nil) && choice().words == nil)
  }

  @Test func thoseOfAListAreByNameOrPattern() {
    #expect(of(choice(["guest-?"])) == ["guest-1", "guest-*"])
    #expect(of(choice(["guest-*", "alice"])) == ["alice", "guest-1", "guest-22", "guest-*"])
    #expect(of(choice(["nobody"])) == [] && !choice(["*"]).includes(nil))
    #expect(choice(["guest-*", "alice"]).words == "guest-* or alice")
  }

  @Test func theOnlyOneIsTakenByTheLetter() {
    #expect(of(choice(["alice"], only: "bob")) == ["bob"], "it goes before the list")
    #expect(of(choice(only: "guest-*")) == ["guest-*"])
  }
}
