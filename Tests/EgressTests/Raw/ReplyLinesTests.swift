import Foundation
import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// What a command prints, as messages.
@Suite struct ReplyLinesTests {
  private let start = MediaTime(nanoseconds: 0)

  private func outcomes(_ text: String) -> [ReplyLines.Outcome] {
    var lines = ReplyLines()
    return lines.take(text.utf8, at: start)
  }

  private func message(
    _ payload: String, _ options: DataPublishOptions = .init(reliable: true)
  ) throws -> ReplyMessage {
    var message = try ReplyMessage(line: Array("{}".utf8))
    (message.payload, message.options) = (Data(payload.utf8), options)
    return message
  }

  @Test func textIsTheMessageAndTheOtherKeysSayHowItGoes() throws {
    let line = #"{"text": "hé\n", "topic": "captions", "to": ["bob"], "reliable": false}"#
    let options = DataPublishOptions(destinationIdentities: ["bob"], topic: "captions", reliable: false)
    let found = [ReplyLines.Outcome.message(try message("hé\n", options))]
    #expect(outcomes(line + "\n") == found)
  }

  @Test func anObjectWithoutTextIsTheMessageItself() throws {
    let line = #"{"event":"motion","topic":"events"}"#
    let found = [ReplyLines.Outcome.message(try message(line, .init(topic: "events", reliable: true)))]
    #expect(outcomes("\(line)\n\n  \n") == found)
  }

  @Test(arguments: [
    ("hello", "no JSON object"), ("[1]", "no JSON object"), (#"{"text": 1}"#, #""text" is to be a string"#),
    (#"{"to": "bob"}"#, "a list of strings"), (#"{"topic": []}"#, #""topic""#), ("\u{1b}[2J", "no JSON object"),
    ("{\"text\": \"" + String(repeating: "x", count: 20_000) + "\"}", "more than 15000 bytes"),
  ])
  func otherLinesAreRefused(line: String, reason: String) throws {
    let found = outcomes(line + "\n{}\n")
    guard case .refused(let shown, let why) = try #require(found.first) else { throw Surprise(found: found) }
    #expect(line.hasPrefix(shown) && why.contains(reason))
    let good = ReplyLines.Outcome.message(try message("{}"))
    #expect(Array(found.dropFirst()) == [good])
  }

  private struct Surprise: Error {
    var found: [ReplyLines.Outcome]
  }

  @Test func linesComeInPieces() throws {
    var lines = ReplyLines()
    let found = Array(#"{"text":"a"}"#.utf8).flatMap { lines.take([$0], at: start) }
    #expect(found.isEmpty)
    let last = [lines.end(at: start), lines.end(at: start)]
    #expect(last == [.message(try message("a")), nil])
  }

  @Test func aFloodIsLimited() {
    var lines = ReplyLines()
    let flood = Array(String(repeating: "{}\n", count: 1000).utf8)
    let passed = [0, 0, 1, 1000].map { seconds in
      lines.take(flood, at: MediaTime(nanoseconds: seconds * 1_000_000_000)).count { $0 != .dropped }
    }
    #expect(passed == [100, 0, 20, 100])
  }

  @Test func noiseIsNeverAMessageAndDoesNoHarm() {
    var (lines, generator) = (ReplyLines(), SystemRandomNumberGenerator())
    for _ in 0..<200 {
      let noise = (0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let outcomes = lines.take(noise, at: start)
      #expect(!outcomes.contains { if case .message = $0 { true } else { false } })
    }
  }
}
