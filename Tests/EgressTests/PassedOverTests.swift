import MediaBridge
import Testing

@testable import Egress

/// What is told of those who would fit as well as the one who is recorded.
@Suite struct PassedOverTests {
  @Test func theyAreNamedAndNothingIsMissed() throws {
    var others = PassedOver()
    #expect(others.omission(besides: "alice") == nil)
    let news = [others.note(["carol", "bob"]), others.note(["bob"])]
    #expect(news == [true, false])
    let told = try #require(others.omission(besides: "alice"))
    #expect("\(told)".hasPrefix("bob and carol: alice alone is taken; --composite grid mixes all"))
    #expect(!told.wasWanted && told.kind == .none)
  }

  @Test func ofManyTheFirstAreNamed() {
    var others = PassedOver()
    _ = others.note((1...8).map { "guest-\($0)" })
    let reason = others.omission(besides: "alice")?.reason
    #expect(reason?.hasPrefix("guest-1, guest-2, guest-3, guest-4, guest-5 and 3 more: ") == true)
  }

  @Test func whoeverComesUnderEverNewNamesFillsNoMemory() {
    var others = PassedOver()
    for number in 0..<PassedOver.limit + 50 { _ = others.note(["\(number)"]) }
    #expect(others.identities.count == PassedOver.limit)
    #expect(others.omission(besides: "alice")?.reason.contains("more at least: ") == true)
  }
}
