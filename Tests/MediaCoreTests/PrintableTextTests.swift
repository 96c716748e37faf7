import Foundation
import MediaCore
import Testing

/// What strangers may call themselves, as it is shown.
@Suite struct PrintableTextTests {
  private func shown(_ text: String) -> String { PrintableText(text).description }

  @Test func whatCanBeReadStaysAsItIs() {
    for name in [
      "alice", "José Ñandú", "李小龍", "Ελένη", "👍🏽 ok", "a\\b", "100 %, \"quoted\" <b>", "e\u{301}", "\\u", "\\U{1b}",
    ] {
      #expect(shown(name) == name)
    }
  }

  @Test(arguments: [
    ("\u{1b}]0;mine\u{7}", "\\u{1b}]0;mine\\u{7}"),
    ("a\r\nb\0\t\u{7f}\u{9b}", "a\\u{d}\\u{a}b\\u{0}\\u{9}\\u{7f}\\u{9b}"),
    ("\u{202e}evil\u{2069}\u{200f}\u{61c}", "\\u{202e}evil\\u{2069}\\u{200f}\\u{61c}"),
    ("a\u{200b}b\u{2028}\u{feff}\u{3164}\u{e0041}", "a\\u{200b}b\\u{2028}\\u{feff}\\u{3164}\\u{e0041}"),
    ("\u{e000}\u{378}", "\\u{e000}\\u{378}"), ("\\u{1b}", "\\u{5c}u{1b}"),
  ])
  func whatHasNoShapeIsEscaped(_ text: String, _ wanted: String) { #expect(shown(text) == wanted) }

  /// Any scalars, and many of those that do harm, each with what could make one escape look like another.
  private static func randomText(_ random: inout SystemRandomNumberGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      let top: UInt32 = [0x20, 0x80, 0xa0, 0x2100, 0x10ffff].randomElement(using: &random)!
      text += ["\\", "u{", "}", "1b"].randomElement(using: &random)!
      if let scalar = Unicode.Scalar(UInt32.random(in: 0...top, using: &random)) { text.unicodeScalars.append(scalar) }
    }
    return text
  }

  @Test func anyTextBecomesALineThatTellsIt() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let text = Self.randomText(&random)
      let line = shown(text)
      #expect(!line.unicodeScalars.contains(where: isHarmful), "\(Array(text.unicodeScalars))")
      #expect(read(line).unicodeScalars.elementsEqual(text.unicodeScalars), "\(line)")
    }
  }

  /// Control codes, directions of writing, ends of lines, tags: by their numbers, as terminals and standards list them.
  private func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    let ranges: [ClosedRange<UInt32>] = [
      0...0x1f, 0x7f...0x9f, 0xad...0xad, 0x34f...0x34f, 0x61c...0x61c, 0x115f...0x1160, 0x180e...0x180e,
      0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0x3164...0x3164, 0xe000...0xf8ff, 0xfe00...0xfe0f,
      0xfeff...0xfeff, 0xffa0...0xffa0, 0xfff0...0xfffb, 0xe0000...0x10ffff,
    ]
    return ranges.contains { $0.contains(scalar.value) }
  }

  /// The text that a line stands for.
  private func read(_ line: String) -> String {
    line.replacing(#/\\u\{([0-9a-f]+)\}/#.matchingSemantics(.unicodeScalar)) {
      String(Unicode.Scalar(UInt32($0.1, radix: 16)!)!)
    }
  }

  @Test func aLongNameDoesNotFlood() {
    let line = shown("Recording " + String(repeating: "\u{1b}[2J", count: 16_000) + ": video VP8")
    #expect(line.hasPrefix("Recording \\u{1b}[2J") && line.hasSuffix("[2J: video VP8"))
    #expect((990...1000).contains(line.unicodeScalars.count))
    #expect(
      line.replacing("\\u{1b}", with: "").replacing("…", with: "").wholeMatch(of: #/Recording [\[2J]+: video VP8/#)
        != nil)
  }

  @Test func jsonHoldsTheSameValuesInPrintableCharacters() throws {
    var random = SystemRandomNumberGenerator()
    let hostile = ["\u{1b}]0;x\u{7}", "\0\n\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}\u{10fffd}", "\\u{1b}", "\\u001b"]
    for text in hostile + (0..<500).map({ _ in Self.randomText(&random) }) {
      let json = PrintableText(json: String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)).description
      #expect(!json.unicodeScalars.contains(where: isHarmful), "\(json)")
      let parsed = try JSONDecoder().decode([String].self, from: Data(json.utf8))
      #expect(parsed[0].unicodeScalars.elementsEqual(text.unicodeScalars), "\(json)")
    }
  }

  @Test(arguments: [
    ("00:00:05.0  1.2 MB", 18, "00:00:05.0  1.2 MB"), ("00:00:05.0  1.2 MB", 17, "00:00:05.0  1.2 …"),
    ("李小龍", 6, "李小龍"), ("李小龍", 5, "李小…"), ("李小龍", 4, "李…"), ("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}"),
    ("👍👍", 3, "👍…"), ("abc", 1, "…"),
  ])
  func aLineIsCutByColumns(_ text: String, _ columns: Int, _ wanted: String) {
    #expect(PrintableText(text).prefix(columns: columns) == wanted)
  }
}
