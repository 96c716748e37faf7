import Foundation
import LiveKitProtocol
import Testing

@testable import MediaBridge

/// What is said and written, out of the streams that carry it.
@Suite struct ReceivedTextsTests {
  private struct Told: Equatable {
    var id: String
    var text: String
    var isFinal: Bool
    var track: String?

    init(_ id: String, _ text: String, isFinal: Bool, track: String? = nil) {
      (self.id, self.text, self.isFinal, self.track) = (id, text, isFinal, track)
    }

    init?(_ news: ReceivedTexts.News?) {
      guard let segment = news?.segment else { return nil }
      self.init(segment.id, segment.text.said, isFinal: segment.isFinal, track: segment.track)
    }
  }

  private struct Stream {
    var texts = ReceivedTexts()

    /// A chat that has no content yet.
    mutating func open(_ id: String, length: UInt64? = nil) {
      var header = Livekit_DataStream.Header()
      if let length { header.totalLength = length }
      (header.streamID, header.topic, header.textHeader) = (id, "lk.chat", .init())
      texts.open(header, from: "agent", origin: "PA_agent")
    }

    mutating func send(
      _ pieces: [String], topic: String = "lk.transcription", id: String = "s", _ attributes: [String: String],
      closing: [String: String] = [:], inTheNameOf sender: String = "agent"
    ) -> [ReceivedTexts.News] {
      var header = Livekit_DataStream.Header()
      (header.streamID, header.topic, header.attributes) = (id, topic, attributes)
      header.textHeader = .init()
      texts.open(header, from: sender, origin: "PA_agent")
      var news = pieces.enumerated().map { index, piece in
        var chunk = Livekit_DataStream.Chunk()
        (chunk.streamID, chunk.chunkIndex, chunk.content) = (id, UInt64(index), Data(piece.utf8))
        return texts.take(chunk, from: "PA_agent")
      }
      var trailer = Livekit_DataStream.Trailer()
      (trailer.streamID, trailer.attributes) = (id, closing)
      news.append(texts.end(trailer, from: "PA_agent"))
      return news.compactMap { $0 }
    }
  }

  @Test func whatIsReplacedIsToldOnceEach() {
    var stream = Stream()
    let interim = ["lk.segment_id": "1", "lk.transcription_final": "false", "lk.transcribed_track_id": "TR_1"]
    #expect(
      stream.send(["Hello"], interim).compactMap(Told.init) == [Told("1", "Hello", isFinal: false, track: "TR_1")])
    let final = ["lk.segment_id": "1", "lk.transcription_final": "true"]
    #expect(
      stream.send(["Hello ", "world"], id: "t", final).compactMap(Told.init)
        == [Told("1", "Hello world", isFinal: true)])
  }

  @Test func whatGrowsIsToldAsItGrowsAndAtItsEnd() {
    var stream = Stream()
    let told = stream.send(
      ["Hel", "lo"], ["lk.segment_id": "2", "lk.transcription_final": "false"],
      closing: ["lk.transcription_final": "true"])
    #expect(
      told.compactMap(Told.init)
        == [
          Told("2", "Hel", isFinal: false), Told("2", "Hello", isFinal: false), Told("2", "Hello", isFinal: true),
        ])
  }

  @Test func whatSaysNothingOfItIsFinalAtItsEnd() {
    var stream = Stream()
    #expect(
      stream.send(["a"], [:]).compactMap(Told.init)
        == [Told("s", "a", isFinal: false), Told("s", "a", isFinal: true)])
    #expect(stream.send([], [:]).compactMap(Told.init).isEmpty, "nothing is said")
  }

  @Test(arguments: [[:], ["lk.transcription_final": "false"]] as [[String: String]])
  func whatIsLongIsNotToldLetterByLetter(_ attributes: [String: String]) {
    var stream = Stream()
    let told = stream.send(Array(repeating: "x", count: 20_000), attributes).compactMap(Told.init)
    #expect(told.prefix(500).map(\.text.count) == Array(1...500) && told.count < 600)
    #expect(told.last?.text.count == 20_000)
  }

  /// The second one has the id of the first, which would be in its way if it had not ended.
  @Test func whatAnAgentSendsInTheNameOfAnotherIsOfThatOne() {
    var stream = Stream()
    for _ in 0..<2 {
      let news = stream.send(["Hello"], ["lk.transcription_final": "true"], inTheNameOf: "alice")
      #expect(news.compactMap(Told.init) == [Told("s", "Hello", isFinal: true)])
      #expect(news.last?.segment?.text.sender == "alice")
    }
  }

  @Test func chatIsWholeAndOthersAreNotRead() {
    var stream = Stream()
    let chat = stream.send(["a", "b"], topic: "lk.chat", [:])
    #expect(chat.allSatisfy { $0.segment == nil })
    guard case .whole(let text, _) = chat.last else { return #expect(Bool(false), "\(chat)") }
    #expect(text.content == "ab" && text.sender == "agent")
    #expect(stream.send(["a"], topic: "lk.other", [:]).isEmpty)
  }

  @Test func whatIsTooLongIsToldAsFarAsItFits() {
    var stream = Stream()
    let long = String(repeating: "x", count: ReceivedTexts.limit - 3)
    let news = stream.send([long, "é😀y", "z"], topic: "lk.chat", [:])
    guard case .whole(let text, _) = news.last, news.count == 2 else { return #expect(Bool(false), "\(news.count)") }
    #expect(text.said == long + "é…")
    #expect(stream.texts.takeLosses().map(\.sender) == ["agent"] && stream.texts.takeLosses().isEmpty)
    #expect(!stream.texts.isOpen("s", from: "PA_agent"))
  }

  @Test func whatIsNoUTF8IsSaidToBeLost() {
    var stream = Stream()
    stream.open("s")
    var chunk = Livekit_DataStream.Chunk()
    (chunk.streamID, chunk.content) = ("s", Data([0x61, 0xff, 0x61, 0x61, 0x61]))
    #expect(stream.texts.take(chunk, from: "PA_agent") == nil && !stream.texts.isOpen("s", from: "PA_agent"))
    #expect(stream.texts.takeLosses().map(\.reason) == ["it is no UTF-8"])
  }

  @Test func whatIsNotWholeIsSaidToBeLost() {
    var stream = Stream()
    var (late, trailer) = (Livekit_DataStream.Chunk(), Livekit_DataStream.Trailer())
    (late.streamID, late.chunkIndex, late.content, trailer.streamID) = ("s", 1, Data("abc".utf8), "s")
    stream.open("s")
    #expect(stream.texts.take(late, from: "PA_agent") == nil)
    #expect(stream.texts.takeLosses().map(\.reason) == ["\(StreamError.incomplete)"])
    stream.open("s", length: 3)
    #expect(stream.texts.end(trailer, from: "PA_agent") == nil)
    #expect(stream.texts.takeLosses().map(\.reason) == ["\(StreamError.incomplete)"])
    late.chunkIndex = 0
    stream.open("s", length: 2)
    #expect(stream.texts.take(late, from: "PA_agent") == nil)
    #expect(stream.texts.takeLosses().map(\.reason) == ["\(StreamError.lengthExceeded)"])
    stream.open("s")
    trailer.reason = "given up"
    #expect(stream.texts.end(trailer, from: "PA_agent") == nil && stream.texts.takeLosses().isEmpty)
  }

  /// A program that closes none of them.
  @Test func theNewestTextsAreHeardHoweverManyAreOpen() {
    var stream = Stream()
    for number in 0...IncomingStreams<Int>.limit { stream.open("\(number)") }
    #expect(!stream.texts.isOpen("0", from: "PA_agent") && stream.texts.isOpen("1", from: "PA_agent"))
    #expect(stream.texts.isOpen("\(IncomingStreams<Int>.limit)", from: "PA_agent"))
    #expect(stream.texts.takeLosses().count == 1)
  }

  @Test func linesOfJSONAreTheTextInThem() {
    var stream = Stream()
    let lines = [#"{"text": "Hel", "start_time": 0.5}"# + "\n", #"{"text": "lo {"}"# + "\n"]
    #expect(
      stream.send(lines, [:]).compactMap(Told.init)
        == [
          Told("s", "Hel", isFinal: false), Told("s", "Hello {", isFinal: false), Told("s", "Hello {", isFinal: true),
        ])
    for text in ["{", "{}", #"{"text": 1}"#, #"{"text": "a"} b"#] {
      #expect(stream.send([text], [:]).compactMap(Told.init).last?.text == text)
    }
    let chat = stream.send(lines, topic: "lk.chat", [:])
    guard case .whole(let text, _) = chat.last else { return #expect(Bool(false), "\(chat)") }
    #expect(text.said == lines.joined(), "people may write JSON")
  }

  /// They are the same wherever they are cut, and what does not begin as a line is none.
  @Test func linesOfJSONMayBeCutAnywhere() {
    let lines = #"{"text": "é\n"}"# + "\r\n\n" + #"{"start_time": 1}"# + "\n" + #"{"text": "!"}"#
    var words = TimedWords()
    for scalar in lines.unicodeScalars { words.add(String(scalar)) }
    #expect(words.text == "é\n!")
    for other in ["\n" + lines, lines + "x", lines + "\nx\n", "{}", ""] {
      var words = TimedWords()
      words.add(other)
      #expect(words.text == nil, "\(other)")
    }
  }

  /// Each line is read once, and not all of them each time that there is more.
  @Test func whatGrowsByManyLinesTakesNoMoreTimeForIt() {
    let piece = String(repeating: "{}\n", count: 5000)
    let pieces = Array(repeating: piece, count: ReceivedTexts.limit / piece.utf8.count)
    var (stream, words, told) = (Stream(), TimedWords(), [Told]())
    let clock = ContinuousClock()
    let once = clock.measure { words.add(pieces.joined()) }
    let growing = clock.measure { told = stream.send(pieces, [:]).compactMap(Told.init) }
    #expect(words.text == nil && told.count > 10 && told.last?.text == pieces.joined())
    #expect(growing < once * 6, "\(growing) and \(once)")
  }

  @Test func whatIsCutIsForgotten() {
    var stream = Stream()
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic) = ("cut", "lk.chat")
    header.textHeader = .init()
    stream.texts.open(header, from: "alice", origin: "PA_agent")
    stream.texts.cut(from: "PA_agent")
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = "cut"
    #expect(stream.texts.end(trailer, from: "PA_agent") == nil)
  }

  @Test func theFirstTimeStaysUntilTheEnd() {
    var times = SegmentTimes()
    let (start, later) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 5))
    #expect(times.note("1", of: "alice", at: start, isFinal: false) == start)
    #expect(times.note("1", of: "bob", at: later, isFinal: false) == later)
    #expect(times.note("1", of: "alice", at: later, isFinal: true) == start)
    #expect(times.note("1", of: "alice", at: later, isFinal: true) == later)
  }
}
