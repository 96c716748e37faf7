import ParserExercises
import Testing

@testable import PipelineTemplates

@Suite struct FillTests {
  private func template(_ text: String) throws -> Template {
    try Template(kind: .output, name: "t", file: "t.pipeline", text: text)
  }

  @Test func readsSummaryVariablesAndLines() throws {
    let template = try template("# Writes a file\n# more\nx264enc bitrate=${rate:-800}\n ! filesink location=${file}")
    #expect(template.summary == "Writes a file")
    #expect(
      template.variables == [
        .init(name: "rate", defaultValue: "800", lines: [3]), .init(name: "file", defaultValue: nil, lines: [4]),
      ])
    let filled = try template.fill(["file": "a"])
    #expect(filled.line(ofElement: "x264enc0") == 3)
    #expect(filled.line(ofElement: "filesink") == 4)
    #expect(filled.line(ofProperty: "location", element: "filesink0") == 4)
    #expect(filled.line(atOffset: filled.description.utf8.count - 1) == 4)
  }

  /// Its value is for Swift, may be any text, and no element gets it.
  @Test func aVariableIsDeclaredInAComment() throws {
    let template = try template("#: ${wait:-4}  Seconds.\n# Reads ${no}\nfakesrc\n  #: ${name}, ${wait}\n! fakesink")
    #expect(template.summary == "Reads ${no}")
    #expect(
      template.variables == [
        .init(name: "wait", defaultValue: "4", lines: [1, 4]), .init(name: "name", defaultValue: nil, lines: [4]),
      ])
    let filled = try template.fill(["name": "a ! b \"c"])
    #expect(filled.description.split(whereSeparator: \.isWhitespace) == ["fakesrc", "!", "fakesink"])
    #expect(filled.elements.map(\.line) == [3, 5] && filled.line(atOffset: 0) == 1)
    #expect(throws: TemplateError.self) { try template.fill() }
    #expect(throws: TemplateError.self) { try self.template("#: ${wait:-4\nfakesrc") }
    #expect(throws: TemplateError.self) { try self.template("#: ${wait:-4}") }
  }

  @Test func aNameIsOnlyAStrangeName() throws {
    let filled = try template("filesink location=\"/rec/${who}.mp4\"").fill(["who": "x ! filesink location=/etc/passwd"]
    )
    #expect(filled.elements.map(\.factory) == ["filesink"])
    #expect(filled.description == #"filesink location=/rec/x\ \!\ filesink\ location\=/etc/passwd.mp4"#)
  }

  /// As gst-launch has it.
  @Test func linksNeedNoSpace() throws {
    let filled = try template("appsrc name=rtp ! rtpvp8depay !vp8dec! identity!appsink name=${sink:-frames}").fill()
    #expect(filled.elements.map(\.factory) == ["appsrc", "rtpvp8depay", "vp8dec", "identity", "appsink"])
    #expect(filled.elements.map(\.name) == ["rtp", nil, nil, nil, "frames"])
    #expect(filled.description == "appsrc name=rtp ! rtpvp8depay !vp8dec! identity!appsink name=frames")
  }

  @Test func aDefaultMayHaveBraces() throws {
    let template = try template("filesink location=${file:-{room_name}-{time}.mkv}")
    #expect(template.variables.map(\.defaultValue) == ["{room_name}-{time}.mkv"])
    #expect(try template.fill().description == #"filesink location=\{room_name\}-\{time\}.mkv"#)
    #expect(throws: TemplateError.self) { try self.template("filesink location=${file:-{room}\n") }
  }

  @Test func aPathInAFolderIsNoMediaType() throws {
    let filled = try template("filesink location=captures/clip-${title}.mkv").fill(["title": "My talk"])
    #expect(filled.elements.first?.properties.first?.value == "captures/clip-My talk.mkv")
  }

  /// In quotes of the template or without, behind a type and within a word; none adds another tag.
  @Test(
    arguments: [
      (#"title=${x}"#, "a b", #"title="a\ b""#), (#"title=${x}"#, "\"a b\"", #"title="a\ b""#),
      (#"title=${x}"#, "5", #"title="5""#), (#"title=${x}"#, "", #"title="""#),
      (#""title=\"${x}\"""#, "a b", #"title="a\ b""#), (#"title=\"${x}\""#, "\"a\"", #"title="a""#),
      (#""title=\"${x}\"""#, #"a",artist="b"#, #"title="a\"\,artist\=\"b""#),
      (#""title=\"a\\${x}\"""#, "\"b", #"title="a\\\"b""#),
      (#""title=\"Call ${x}\"""#, "5", #"title="Call 5""#), (#"title=Call-${x}"#, "5", "title=Call-5"),
      (#""track-number=(uint)${x}""#, "5", "track-number=(uint)5"),
      (#""track-number=(uint) ${x}""#, "5", "track-number=(uint) 5"),
      (#""track-number=(uint)${x}""#, "5,title=b", #"track-number=(uint)"5\,title\=b""#),
      (#""title=(string)${x}""#, "a b", #"title=(string)"a\ b""#), ("${x}", "title=a", "title=a"),
    ] as [(String, String, String)])
  func aTagHasItsValue(_ tags: String, value: String, expected: String) throws {
    let filled = try template("taginject tags=\(tags) ! fakesink").fill(["x": value])
    #expect(filled.elements.first?.properties.first?.value == expected)
    #expect(filled.elements.map(\.factory) == ["taginject", "fakesink"])
  }

  /// Another value of what is declared makes another output, another word about it does not.
  @Test func whatIsDeclaredCounts() throws {
    let (four, worded, two) = try (
      template("#: ${wait:-4}\nfakesrc ! fakesink").fill(),
      template("#: ${wait:-4}  Seconds.\n\nfakesrc ! fakesink").fill(),
      template("#: ${wait:-2}\nfakesrc ! fakesink").fill()
    )
    #expect(four.isSame(as: worded) && !four.isSame(as: two))
  }

  /// Each of these came back unchanged as a property's value from GStreamer 1.22's gst_parse_launch.
  @Test(arguments: [
    ("", "\"\""), ("a b", #"a\ b"#), ("a\nb", "\"a\nb\""), (#"\"#, #"\"\\\\\""#), (#"a\"#, #"\"a\\\\\""#),
    ("\"", #"\"\\\"\""#), ("\n\\", #"\"\\012\\\\\""#), ("NULL", #"\"NULL\""#), ("NULLS", "NULLS"),
  ])
  func quotesForTheRealParser(value: String, expected: String) {
    #expect(LaunchQuoting.propertyValue(value) == expected)
  }

  @Test func refusesSyntaxWhereNothingCanQuoteIt() throws {
    let caps = try template("fakesrc ! video/x-raw,width=${w} ! fakesink")
    #expect(try caps.fill(["w": "640"]).description.contains("width=640"))
    for bad in ["1,height=2", "1 ! filesink", "", "1;video/x-h264", "(int)1"] {
      #expect(throws: TemplateError.self) { try caps.fill(["w": bad]) }
    }
    #expect(throws: TemplateError.self) { try template("appsrc caps=\"video/x-raw,width=${w}\"").fill(["w": "1,a=2"]) }
    #expect(throws: TemplateError.self) { try template("${enc} ! fakesink").fill(["enc": "a ! b"]) }
    #expect(throws: TemplateError.self) { try template("filesink location='${x}'") }
    #expect(throws: TemplateError.self) { try template("filesink location=${x}").fill(["x": "a\0b"]) }
  }

  @Test func errorsNameFileLineAndTheNearestName() throws {
    let bitrate = try template("x264enc bitrate=${bitrate:-1}")
    let error = #expect(throws: TemplateError.self) { try bitrate.fill(["bitrat": "1"]) }
    #expect(
      error?.reason == .unknownVariable(name: "bitrat", known: ["bitrate"], nearest: "bitrate"))
    let missing = #expect(throws: TemplateError.self) { try template("# c\n\nfilesink location=${x}").fill() }
    #expect(missing?.description.hasPrefix("t.pipeline:3: ") == true)
    #expect(throws: TemplateError(file: "t.pipeline", line: 2, .unterminatedVariable)) { try template("# c\na b=${x") }
    #expect(throws: TemplateError(file: "t.pipeline", .empty)) { try template("# only words\n") }
    #expect(throws: TemplateError(file: "t.pipeline", line: 2, .conflictingDefaults(name: "a", other: 1))) {
      try template("x b=${a:-1}\nx b=${a:-2}")
    }
  }

  /// Errors are allowed, traps are not; and a value never adds an element.
  @Test(arguments: 0..<4) func garbageNeverTraps(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let pieces = [
      "\\", "\"", "'", "!", "=", "${x}", "${y:-a}", "${", "}", " ", "\n", "#", "name=", "caps=", "video/x-raw,", "a",
      "日",
      "\0", "location=", ",w=", ";", "(", ")", ".",
    ]
    for _ in 0..<10_000 {
      let make = { (random: inout SeededRandom) in
        (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
      let (text, value) = (make(&random), make(&random))
      guard let template = try? template(text) else { continue }
      let known = Dictionary(uniqueKeysWithValues: template.variables.map { ($0.name, value) })
      guard let filled = try? template.fill(known) else { continue }
      let plain = try? template.fill(known.mapValues { _ in "q" })
      #expect(plain == nil || plain?.elements.count == filled.elements.count, "\(text.debugDescription)")
    }
  }
}
