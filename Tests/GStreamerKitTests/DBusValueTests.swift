import Testing

@testable import GStreamerKit

struct DBusValueTests {
  @Test func argumentsAreWhatTheyWere() throws {
    let words = "it's \\ \"here\" …"
    let value = try #require(DBusValue([.path("/org/a_1"), .string(words), .options(["types": .number(3)])]))
    #expect(value[0]?.string == "/org/a_1" && value[1]?.string == words && value[2]?["types"]?.number == 3)
    #expect(value[3] == nil && value[2]?["other"] == nil && value[0]?.number == nil && value[1]?["types"] == nil)
    #expect(try #require(DBusValue([.string("alone")]))[0]?.string == "alone")
  }

  @Test func whatIsNoStringIsNoArgument() {
    #expect(DBusValue([.string("a\0b")]) == nil && DBusValue([.path("a b")]) == nil)
  }
}
