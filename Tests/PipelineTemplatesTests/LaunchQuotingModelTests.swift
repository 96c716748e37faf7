import Testing

@testable import PipelineTemplates

/// `gst_parse_launch` in as far as it decides where a value ends and what it is, written from what GStreamer 1.22 did with
/// 180,000 random values. GStreamerKit's tests ask the real parser.
private enum LaunchModel {
  /// The end of the value that begins at `start`: the longest match of either form, a backslash standing for itself as
  /// well as for the beginning of an escape.
  static func end(_ text: [UInt8], from start: Int) -> Int { max(word(text, start), quoted(text, start)) }

  private static func word(_ text: [UInt8], _ start: Int) -> Int {
    var reached: Set<Int> = [start]
    var longest = start
    for position in start..<text.count where reached.contains(position) {
      if !LaunchQuoting.isSpace(text[position]) { reached.insert(position + 1) }
      if text[position] == 0x5c, position + 1 < text.count, text[position + 1] != 0x0a { reached.insert(position + 2) }
      longest = max(longest, reached.max() ?? start)
    }
    return longest
  }

  private static func quoted(_ text: [UInt8], _ start: Int) -> Int {
    guard start < text.count, text[start] == 0x22 else { return start }
    var reached: Set<Int> = [start + 1]
    var longest = start
    for position in (start + 1)..<max(text.count, start + 1) where reached.contains(position) {
      if text[position] == 0x22 { longest = max(longest, position + 1) } else { reached.insert(position + 1) }
      if text[position] == 0x5c, position + 1 < text.count, text[position + 1] == 0x22 { reached.insert(position + 2) }
    }
    return longest
  }

  /// What a text property becomes.
  static func value(_ token: ArraySlice<UInt8>) -> [UInt8]? {
    let isQuoted = token.count >= 2 && token.first == 0x22 && token.last == 0x22
    let text = LaunchQuoting.meaning(of: isQuoted ? token.dropFirst().dropLast() : token)
    return text.first == 0x22 ? unwrapped(text) : text
  }

  /// `gst_string_unwrap`: three octal digits or any one character after a backslash.
  private static func unwrapped(_ text: [UInt8]) -> [UInt8]? {
    guard text.count >= 2, text.last == 0x22 else { return nil }
    var result: [UInt8] = []
    var rest = text.dropFirst().dropLast()
    while let byte = rest.popFirst() {
      guard byte == 0x5c else {
        guard LaunchQuoting.isAlphanumeric(byte) || "_-+/:.".utf8.contains(byte) else { return nil }
        result.append(byte)
        continue
      }
      let digits = rest.prefix(3)
      if let first = digits.first, (0x30...0x33).contains(first) {
        guard let octal = UInt8(String(decoding: digits, as: UTF8.self), radix: 8), digits.count == 3 else {
          return nil
        }
        result.append(octal)
        rest = rest.dropFirst(3)
      } else {
        guard let next = rest.popFirst() else { return nil }
        result.append(next)
      }
    }
    return result
  }
}

private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

@Suite struct LaunchQuotingModelTests {
  private static let atoms = [
    "\\", "\\", "\"", "\"", "'", "!", "=", "(", ")", "{", "}", ".", ":", ";", ",", " ", "\t", "\n", "\r", "\u{b}", "#",
    "$", "${x}", "é", "日", "/", "a", "7", "name=f", " ! ", "filesink location=/etc/passwd", "\u{1}", "\u{7f}", "//",
    "file://", "\\n", "\\101", "e\u{301}",
  ]

  private static let places: [(template: String, meaning: @Sendable (String) -> String)] = [
    ("filesrc location=${x} ! fakesink name=\"z b\"", { $0 }),
    ("filesrc location = \"${x}\"\n ! fakesink name=\"z b\"", { $0 }),
    ("filesrc location=\"/tmp/${x}\" ! fakesink name=\"z b\"", { "/tmp/" + $0 }),
    ("filesrc location=/tmp/${x}.mp4 ! fakesink name=\"z b\"", { "/tmp/" + $0 + ".mp4" }),
    ("filesrc location=\"a \\\"${x}\\\" \\\\${x}\" ! fakesink name=\"z b\"", { "a \"\($0)\" \\\($0)" }),
    ("filesrc location=a\\ \\!\\\\${x}\\\"b ! fakesink name=\"z b\"", { "a !\\\($0)\"b" }),
  ]

  /// The value is read back exactly, and the rest of the pipeline stays what it was.
  private func expectData(_ value: String, _ place: (template: String, meaning: @Sendable (String) -> String)) throws {
    let template = try Template(kind: .output, name: "t", file: "t.pipeline", text: place.template)
    let text = Array(try template.fill(["x": value]).description.utf8)
    let equals = try #require(text.firstIndex(of: UInt8(ascii: "=")))
    let start = try #require(text[(equals + 1)...].firstIndex { !LaunchQuoting.isSpace($0) })
    let end = LaunchModel.end(text, from: start)
    let after = String(decoding: text[end...].drop(while: LaunchQuoting.isSpace), as: UTF8.self)
    #expect(after == "! fakesink name=\"z b\"", "\(value.debugDescription)")
    #expect(LaunchModel.value(text[start..<end]) == Array(place.meaning(value).utf8), "\(value.debugDescription)")
  }

  @Test(arguments: [
    "", " ", "x ! filesink location=/etc/passwd", "\\", "a\\", "\\\\", "\\\"", "\"", "\"a\"", "\"a", "a\"", "'a b'",
    "a\nb",
    "a\n\\", "\n", "\"\n\\", "${x}", "# no comment", "a=b", "(a.b)", "caps,width=1", "ä\u{301} 日",
  ]) func knownTroubleStaysData(value: String) throws {
    for place in Self.places { try expectData(value, place) }
  }

  @Test func randomValuesStayData() throws {
    var random = SplitMix(state: 11)
    for round in 0..<12_000 {
      let value = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        Self.atoms[Int.random(in: 0..<Self.atoms.count, using: &random)]
      }
      try expectData(value.joined(), Self.places[round % Self.places.count])
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
