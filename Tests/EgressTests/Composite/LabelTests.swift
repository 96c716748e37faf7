import Foundation
import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// Labels as they are sent, and which are shown.
@Suite struct LabelTests {
  private let start = MediaTime(nanoseconds: 0)

  @Test(arguments: [
    ("good morning", CompositeLabel("good morning")), ("{laughs}", CompositeLabel("{laughs}")),
    ("", CompositeLabel("")),
    ("[1]", CompositeLabel("[1]")),
    (
      #"{"text": "a", "participant": "bob", "duration": 1.5, "more": 1}"#,
      CompositeLabel("a", participant: "bob", duration: .seconds(1.5))
    ),
    (#"{"text": "", "participant": "", "duration": null}"#, CompositeLabel("")),
  ])
  func aMessageIsALabel(message: String, label: CompositeLabel) throws {
    #expect(try CompositeLabel(message: Data(message.utf8)) == label)
  }

  @Test(arguments: [
    (Data([0xff, 0xfe, 0x41]), "no UTF-8"), (Data(#"{"words": []}"#.utf8), #""text" is missing"#),
    (Data(#"{"text": 1}"#.utf8), #""text" is to be a string"#),
    (Data(#"{"text": "a", "participant": 7}"#.utf8), #""participant" is to be"#),
    (Data(#"{"text": "a", "duration": true}"#.utf8), "seconds"),
    (Data(#"{"text": "a", "duration": 0}"#.utf8), "seconds"),
    (Data(#"{"text": "a", "duration": 1e300}"#.utf8), "seconds"),
    (Data(#"{"text": "a", "duration": "5"}"#.utf8), "seconds"),
  ])
  func whatIsNoneIsSaid(message: Data, reason: String) {
    do {
      let label = try CompositeLabel(message: message)
      Issue.record("taken for \(label)")
    } catch { #expect(error.message.contains(reason)) }
  }

  @Test func linesOfACommandAreLabels() {
    var lines = ReplyLines(.labels)
    let found = lines.take("{\"text\": \"a\"}\nplain\n".utf8, at: start)
    #expect(found == [.label(CompositeLabel("a")), .refused(line: "plain", reason: "it is no JSON object")])
  }

  @Test func aLabelStaysUntilItsTimeIsOverOrAnotherOneComes() {
    var board = LabelBoard()
    board.set(CompositeLabel("whole", duration: .seconds(2)), at: start)
    board.set(CompositeLabel("bob's", participant: "bob"), at: start)
    #expect(board.expire(at: start + .seconds(1)).isEmpty)
    board.set(CompositeLabel("longer", duration: .seconds(2)), at: start + .seconds(1))
    #expect(board.expire(at: start + .seconds(2)).isEmpty && board.text(of: nil) == "longer")
    #expect(board.expire(at: start + .seconds(3)) == [CompositeLabel("")])
    #expect(board.text(of: nil) == nil && board.text(of: "bob") == "bob's")
    #expect(board.forget("bob") && !board.forget("bob"))
    board.set(CompositeLabel("a"), at: start)
    board.set(CompositeLabel(""), at: start)
    #expect(board.text(of: nil) == nil)
  }

  @Test func tooManyAreSaidOnceUntilThereAreFewerAgain() throws {
    var messages = LabelMessages()
    for _ in 0..<100 { #expect(try messages.allow(at: start)) }
    #expect(throws: LiveKitError.self) { try messages.allow(at: start) }
    #expect(try !messages.allow(at: start))
    #expect(try messages.allow(at: start + .seconds(1)))
  }
}
