import Testing

@testable import PipelineTemplates

@Suite struct FileNameFillTests {
  private func fill(_ text: String, _ identity: String) throws -> String {
    try FileNameTemplate(text).fill([.publisherIdentity: identity, .roomName: "room"])
  }

  @Test func fillsPlaceholders() throws {
    #expect(try fill("/rec/{room_name}/{publisher_identity}.mp4", "Zoë 日") == "/rec/room/Zoë 日.mp4")
    #expect(try FileNameTemplate("{time}{utc}{time}").placeholders == [.time, .utc])
  }

  @Test func namesUnknownPlaceholders() {
    #expect(throws: FileNameTemplate.Failure.unknownPlaceholder("room_nam", nearest: "room_name")) {
      try FileNameTemplate("{room_nam}.mp4")
    }
    #expect(throws: FileNameTemplate.Failure.unterminatedPlaceholder) { try FileNameTemplate("{time.mp4") }
    #expect(throws: FileNameTemplate.Failure.missingValue(.utc)) { try FileNameTemplate("{utc}").fill([:]) }
    #expect(throws: FileNameTemplate.Failure.emptyName) { try FileNameTemplate("rec/").fill([:]) }
    #expect(throws: FileNameTemplate.Failure.containsNUL) { try FileNameTemplate("a\0b") }
  }

  @Test(arguments: [
    "../../etc/passwd", "..", ".", "", "/", "/etc/passwd", "-rf", "a\0b", "a\nb", "..\\..", "\u{202e}gpj",
  ])
  func remoteTextStaysInItsFolder(identity: String) throws {
    for template in ["/rec/{publisher_identity}", "/rec/{publisher_identity}.mp4"] {
      let path = try fill(template, identity)
      #expect(path.utf8.split(separator: UInt8(ascii: "/")).count == 2)
      let name = try #require(path.utf8.split(separator: UInt8(ascii: "/")).last)
      #expect(name.first != UInt8(ascii: ".") && name.first != UInt8(ascii: "-"))
      #expect(name.allSatisfy { $0 >= 0x20 && $0 != 0x7f })
    }
  }

  @Test func staysInItsFolderForRandomText() throws {
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "/", "..", ".", "-", "\0", "\u{1}", "\\", "日", "e\u{301}", "a", "\r\n", " ", "\u{2028}", "~", "{time}",
    ]
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...40, using: &random)
      let identity = (0..<length).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      let path = try fill("/rec/x/{publisher_identity}", identity)
      let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      #expect(parts.count == 4 && path.hasPrefix("/rec/x/"), "\(identity.debugDescription)")
      #expect(parts[3].first != UInt8(ascii: ".") && !parts[3].isEmpty && parts[3].count <= 255)
    }
  }

  @Test(
    arguments: [
      ("alice", "alice"), ("bob-2.~_", "bob-2.~_"), ("a b", "a_b"), ("../admin", "___admin"),
      ("a?token=x&y#z", "a_token_x_y_z"), ("a/b", "a_b"), ("%2Fb", "_2Fb"), ("#!::r=x,m=y", "____r_x_m_y"), ("", "_"),
      ("Zoë", "Zo%C3%AB"),
    ])
  func whatIsInAnAddressIsOneWord(identity: String, word: String) throws {
    let template = try FileNameTemplate("rtmp://h:1/live/{publisher_identity}?room={room_name}")
    #expect(
      try template.address([.publisherIdentity: identity, .roomName: "r"]) == "rtmp://h:1/live/\(word)?room=r")
  }

  @Test func keepsTheSuffixWhenANameIsTooLong() throws {
    let path = try fill("/rec/{room_name}-{publisher_identity}.mp4", String(repeating: "日", count: 300))
    let name = try #require(path.split(separator: "/").last)
    // What is called after it has to fit, too.
    #expect(name.utf8.count <= 215 && name.utf8.count > 205)
    #expect(name.hasPrefix("room-日") && name.hasSuffix(".mp4"))
    #expect(throws: FileNameTemplate.Failure.self) {
      try fill(String(repeating: "x", count: 255) + "{room_name}", "a")
    }
  }
}
