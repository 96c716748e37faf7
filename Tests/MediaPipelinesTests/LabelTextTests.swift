import Testing

@testable import MediaPipelines

/// What a label says, as it is shown.
@Suite struct LabelTextTests {
  @Test(arguments: [
    ("good morning", "good morning"), ("  a \t b \r\n\n c ", "a b\nc"), ("", ""), (" \n\u{200b}\u{0} ", ""),
    ("a\u{202e}b\u{1b}[2Jc\u{fffe}", "ab[2Jc"), ("Ω 漢字 שלום", "Ω 漢字 שלום"), ("می\u{200c}خواهم", "می\u{200c}خواهم"),
    ("👩\u{200d}🔧", "👩\u{200d}🔧"), ("1\n2\n3\n4\n5", "1\n2\n3\n4…"), ("1\n2\n3\n4\n\n", "1\n2\n3\n4"),
  ])
  func whatHasAShapeIsShown(text: String, shown: String) {
    #expect(LabelText.shown(text, columns: 40) == shown)
  }

  @Test func whatIsTooLongEndsInDots() {
    #expect(LabelText.shown("0123456789", columns: 10) == "0123456789")
    #expect(LabelText.shown("0123456789 1", columns: 10) == "0123456789…")
    #expect(LabelText.shown("漢字漢字漢字", columns: 10) == "漢字漢字漢…")
    #expect(LabelText.shown(String(repeating: "x", count: 1_000_000), columns: 10) == "xxxxxxxxxx…")
    #expect(LabelText.shown(String(repeating: "\u{0}", count: 1_000_000), columns: 10).isEmpty)
  }

  @Test func linesOfTheirOwnLeaveRoomForFewerLetters() {
    let shown = LabelText.shown("1\n2\n" + String(repeating: "x", count: 40), columns: 40)
    #expect(shown == "1\n2\n" + String(repeating: "x", count: 22) + "…")
  }

  @Test func letterTowersAreLow() {
    let shown = LabelText.shown("e" + String(repeating: "\u{301}", count: 500) + "f", columns: 10)
    #expect(shown.unicodeScalars.count == 6 && shown.hasSuffix("f"))
  }

  @Test func markupIsText() {
    #expect(PangoText.quoted("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#39;")
  }
}
