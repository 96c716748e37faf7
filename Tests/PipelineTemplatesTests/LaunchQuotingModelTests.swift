import ParserExercises
import Testing

@testable import PipelineTemplates

@Suite struct LaunchQuotingModelTests {
  private static let atoms = [
    "\\", "\\", "\"", "\"", "'", "!", "=", "(", ")", "{", "}", ".", ":", ";", ",", " ", "\t", "\n", "\r", "\u{b}", "#",
    "$", "${x}", "é", "日", "/", "a", "7", "name=f", " ! ", "filesink location=/etc/passwd", "\u{1}", "\u{7f}", "//",
    "file://", "\\n", "\\101", "e\u{301}",
  ]

  /// The value is read back exactly, and the rest of the pipeline stays what it was.
  private func expectData(_ value: String, _ place: LaunchModel.Place) throws {
    let template = try Template(kind: .output, name: "t", file: "t.pipeline", text: place.template)
    let read = LaunchModel.read(try template.fill(["x": value]).description)
    #expect(read?.rest == "! fakesink name=\"z b\"", "\(value.debugDescription)")
    #expect(read?.value == Array(place.meaning(value).utf8), "\(value.debugDescription)")
  }

  @Test(arguments: [
    "", " ", "x ! filesink location=/etc/passwd", "\\", "a\\", "\\\\", "\\\"", "\"", "\"a\"", "\"a", "a\"", "'a b'",
    "a\nb",
    "NULL", "a\n\\", "\n", "\"\n\\", "${x}", "# no comment", "a=b", "(a.b)", "caps,width=1", "ä\u{301} 日",
  ]) func knownTroubleStaysData(value: String) throws {
    for place in LaunchModel.places { try expectData(value, place) }
  }

  @Test func randomValuesStayData() throws {
    var random = SeededRandom(seed: 11)
    for round in 0..<12_000 {
      let value = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        Self.atoms[Int.random(in: 0..<Self.atoms.count, using: &random)]
      }
      try expectData(value.joined(), LaunchModel.places[round % LaunchModel.places.count])
    }
  }

  /// The model itself must see the traps, or the tests above could not fail.
  @Test func theModelKnowsTheTraps() {
    let swallowing = Array("a\\\\ ! b".utf8)
    #expect(LaunchModel.end(swallowing, from: 0) == 5)
    let quoted = Array("\"a\\\\\" ! x name=\"b\"".utf8)
    #expect(LaunchModel.end(quoted, from: 0) > 6)
    #expect(LaunchModel.value(Array("\\\"a".utf8)[...]) == nil)
  }

  @Test func aNULIsRefused() throws {
    let template = try Template(kind: .output, name: "t", file: "t.pipeline", text: "a\nb c=${x}")
    #expect(throws: TemplateError(file: "t.pipeline", line: 2, .badValue(name: "x", "has a NUL byte"))) {
      try template.fill(["x": "a\u{0}b"])
    }
  }

  /// Inside caps and for bare words nothing but plain words goes in, whatever the value holds.
  @Test(arguments: [
    "a ! video/x-raw,width=${x} ! b", "a ! video/x-raw, width=${x}, height=2 ! b", "f caps=\"video/x-raw,width=${x}\"",
    "f caps=video/x-raw,width=${x}", "f headers=\"h,k=${x}\"", "${x} ! b", "a ! ${x}.sink",
  ]) func syntaxIsRefusedWherePlainWordsStand(text: String) throws {
    let template = try Template(kind: .output, name: "t", file: "t.pipeline", text: text)
    #expect(try template.fill(["x": "640"]).description == text.replacing("${x}", with: "640"))
    for value in ["", "1,height=2", "1 ! c", "1;2", "a b", "\"1\"", "(int)1", "[1,2]", "a=b", "\\", "é", "1\n"] {
      #expect(throws: TemplateError.self, "\(value.debugDescription)") { try template.fill(["x": value]) }
    }
  }
}
