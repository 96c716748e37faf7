import Testing

@testable import Egress

@Suite("Names with wildcards")
struct NamePatternTests {
  @Test(
    "stand for any characters or for one",
    arguments: [
      ("*", "", true), ("*", "alice", true), ("alice", "alice", true), ("alice", "alic", false),
      ("guest-*", "guest-", true), ("guest-*", "guest-7", true), ("guest-*", "a guest-7", false),
      ("guest-?", "guest-7", true), ("guest-?", "guest-", false), ("guest-?", "guest-77", false),
      ("*-a*b", "x-a-ab", true), ("*-a*b", "x-a-ac", false), ("a*b?", "ab", false), ("", "a", false), ("?", "ü", true),
      ("*-?-*", "a-b-c", true), ("??", "é😀", true), ("a*", "a*", true),
    ])
  func matches(pattern: String, name: String, isLike: Bool) {
    #expect(NamePattern(pattern).matches(name) == isLike)
  }

  @Test("fit where one of several does, and without any")
  func several() {
    let some = NamePatterns(["alice", "guest-*"])
    #expect(["alice", "guest-7"].allSatisfy(some.matches) && !["bob", "alice2", ""].contains(where: some.matches))
    #expect(!some.matches(nil) && some.words == "alice or guest-*")
    #expect(NamePatterns([]).matches("bob") && NamePatterns([]).matches(nil) && NamePatterns([]).words == nil)
  }

  @Test("take no time that grows with the number of wildcards")
  func isFast() {
    #expect(!NamePattern(String(repeating: "a*", count: 50) + "b").matches(String(repeating: "a", count: 2000)))
  }
}
