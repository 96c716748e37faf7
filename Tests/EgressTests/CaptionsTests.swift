import BridgeTesting
import Foundation
import Glibc
import MediaBridge
import MediaCore
import PipelineTemplates
import Testing

@testable import Egress

/// From what is transcribed to what players show.
@Suite struct CaptionsTests {
  private static let alice = Captions.Speaker(identity: "alice", name: "Alice")
  private static let bob = Captions.Speaker(identity: "bob", name: "Bob")
  private static let today = Date(timeIntervalSince1970: 1_700_000_000)
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func segment(
    _ id: String, _ text: String, isFinal: Bool = true, start: UInt64 = 0, end: UInt64 = 0
  ) -> TranscriptionSegment {
    TranscriptionSegment(
      id: id, text: text, firstReceivedTime: Self.today, lastReceivedTime: Self.today, isFinal: isFinal,
      startTime: start, endTime: end)
  }

  private func cue(_ start: Double, _ end: Double, _ text: String, _ speaker: String = "Alice") -> CaptionCue {
    CaptionCue(start: .seconds(start), end: .seconds(end), speaker: speaker, text: text)
  }

  // MARK: Cues

  @Test func aCueIsAsLongAsItWasSpoken() {
    var captions = Captions()
    #expect(captions.note(segment("1", "Hel", isFinal: false), of: Self.alice, at: .seconds(1)) == nil)
    #expect(captions.note(segment("1", "Hello wor", isFinal: false), of: Self.alice, at: .seconds(2)) == nil)
    #expect(
      captions.note(segment("1", " Hello, world. "), of: Self.alice, at: .seconds(4)) == cue(1, 4, "Hello, world."))
    #expect(captions.note(segment("1", "Hello, world."), of: Self.alice, at: .seconds(5)) == nil, "it was written")
    let rest = captions.end(at: .seconds(60), isOver: true)
    #expect(rest.isEmpty)
  }

  @Test func speakersWithTheSameIdsAreTwo() {
    var captions = Captions()
    _ = captions.note(segment("1", "A", isFinal: false), of: Self.alice, at: .seconds(1))
    _ = captions.note(segment("1", "B", isFinal: false), of: Self.bob, at: .seconds(2))
    #expect(captions.note(segment("1", "Bee"), of: Self.bob, at: .seconds(9)) == cue(2, 9, "Bee", "Bob"))
    #expect(captions.note(segment("1", "Aye"), of: Self.alice, at: .seconds(9)) == cue(1, 9, "Aye"))
  }

  @Test func whatComesAtOnceCanBeRead() {
    var captions = Captions()
    #expect(captions.note(segment("1", "Yes."), of: Self.alice, at: .seconds(1)) == cue(1, 2, "Yes."))
    let text = String(repeating: "words ", count: 10).dropLast()
    #expect(captions.note(segment("2", text + "."), of: Self.alice, at: .seconds(9))?.end == .seconds(12))
    let long = String(repeating: "x", count: 1000)
    #expect(captions.note(segment("3", long), of: Self.alice, at: .seconds(30)) == cue(30, 37, long))
  }

  @Test func timesOfTheDayAreBelievedAndOthersAreNot() {
    var captions = Captions()
    let now = UInt64(Self.today.timeIntervalSince1970 * 1000)
    #expect(
      captions.note(segment("1", "A", start: now - 5000, end: now - 2000), of: Self.alice, at: .seconds(20))
        == cue(15, 18, "A"))
    #expect(
      captions.note(segment("2", "B", start: 5000, end: 8000), of: Self.alice, at: .seconds(20)) == cue(20, 21, "B"))
    #expect(
      captions.note(segment("3", "C", start: now - 5000), of: Self.alice, at: .seconds(2)) == cue(0, 2, "C"))
  }

  @Test func whatIsSaidAgainAtOnceIsWrittenAgain() {
    var captions = Captions()
    #expect(captions.note(segment("SG_1", "No."), of: Self.alice, at: .seconds(3)) != nil)
    #expect(captions.note(segment("SG_2", "No."), of: Self.alice, at: .seconds(3.2)) != nil)
    #expect(captions.note(segment("SG_2", "No."), of: Self.alice, at: .seconds(3.3)) == nil, "it was written")
    #expect(captions.note(segment("SG_2", "No."), of: Self.bob, at: .seconds(3.3)) != nil)
  }

  @Test func whatNobodyEndsStaysAsItIs() {
    var captions = Captions()
    _ = captions.note(segment("1", "Hello", isFinal: false), of: Self.alice, at: .seconds(1))
    _ = captions.note(segment("1", "Hello there", isFinal: false), of: Self.alice, at: .seconds(3))
    _ = captions.note(segment("2", "and", isFinal: false), of: Self.alice, at: .seconds(12))
    #expect(captions.end(at: .seconds(12)).isEmpty && captions.oldestStart == .seconds(1))
    #expect(captions.end(at: .seconds(13)) == [cue(1, 3, "Hello there")])
    #expect(captions.oldestStart == .seconds(12))
    #expect(captions.end(at: .seconds(13), isOver: true) == [cue(12, 13, "and")])
    #expect(captions.oldestStart == nil)
  }

  @Test func whatBeginsInAPauseIsCutOut() {
    var captions = Captions()
    _ = captions.note(segment("1", "be", isFinal: false), of: Self.alice, at: .seconds(1))
    let cutOut: (Duration) -> Duration? = { _ in nil }
    #expect(captions.note(segment("2", "x"), of: Self.alice, at: .seconds(3), place: cutOut) == nil)
    #expect(
      captions.note(segment("1", "before"), of: Self.alice, at: .seconds(3), place: cutOut) == cue(1, 3, "before"))
    #expect(captions.note(segment("3", "  \n"), of: Self.alice, at: .seconds(4)) == nil, "nothing is said")
  }

  /// What is final comes a moment after it was said: of a pause, when that is over.
  @Test func whatWasSaidInAPauseIsCutOutHoweverLateItComes() {
    var clock = JobClock()
    let begin = MediaTime(nanoseconds: 1_000_000_000_000)
    _ = clock.pause(at: begin + .seconds(20))
    _ = clock.resume(at: begin + .seconds(50))
    let (paused, now) = (clock, begin + .seconds(51))
    let place: (Duration) -> Duration? = { ago in paused.placed(now - ago).map { $0 - begin } }
    let today = UInt64(Self.today.timeIntervalSince1970 * 1000)
    var captions = Captions()
    func note(_ text: String, _ start: UInt64, _ end: UInt64) -> CaptionCue? {
      let said = segment(text, text, start: today - start, end: today - end)
      return captions.note(said, of: Self.alice, at: .seconds(21), place: place)
    }
    #expect(note("in it", 5000, 4000) == nil)
    #expect(note("before it", 33_000, 32_000) == cue(18, 19, "before it"))
    #expect(note("after it", 500, 0) == cue(20.5, 21.5, "after it"))
    let rest = captions.end(at: .seconds(60), isOver: true)
    #expect(rest.isEmpty)
  }

  @Test func aPartHasWhatIsInIt() {
    let spoken = cue(8, 12, "over the change")
    #expect(spoken.part(from: .zero, to: .seconds(10)) == cue(8, 10, "over the change"))
    #expect(spoken.part(from: .seconds(10), to: nil) == cue(0, 2, "over the change"))
    #expect(spoken.part(from: .zero, to: .seconds(8.25)) == nil, "nobody reads so fast")
    #expect(spoken.part(from: .seconds(12), to: nil) == nil && spoken.part(from: .zero, to: .seconds(8)) == nil)
  }

  /// A file is not made longer by what is to be read.
  @Test func whatIsSaidLastIsSeenBeforeTheEnd() {
    #expect(cue(8, 9, "before").within(.seconds(10)) == cue(8, 9, "before"))
    #expect(cue(8, 15, "long").within(.seconds(10)) == cue(8, 10, "long"))
    #expect(cue(9.75, 15, "last").within(.seconds(10)) == cue(9.5, 10, "last"))
    #expect(cue(10.25, 15, "late").within(.seconds(10)) == cue(9.5, 10, "late"))
    #expect(cue(0.125, 1, "all").within(.seconds(0.25)) == cue(0, 0.25, "all"))
  }

  /// Its time would wrap around, to a minute later.
  @Test func aTrackHasWhatIsLateNearWhatIsWritten() {
    #expect(cue(25, 26, "now").near(.seconds(55)) == cue(25, 26, "now"))
    #expect(cue(20, 55, "long").near(.seconds(55.5)) == cue(25.5, 55, "long"))
    #expect(cue(1, 2, "late").near(.seconds(60)) == cue(30, 31, "late"))
  }

  // MARK: WebVTT

  @Test func wordsAreNoSyntax() {
    let text = "a --> b & <i>c</i>\r\n\r\n\u{2028} \nNOTE d\0"
    #expect(
      WebVTT.text(of: cue(3661.0045, 3662.9999, text, "A > B\n& C"))
        == "01:01:01.004 --> 01:01:02.999\n<v A &gt; B &amp; C>a --&gt; b &amp; &lt;i&gt;c&lt;/i&gt;\nNOTE d\u{fffd}\n\n"
    )
    #expect(WebVTT.file(of: []) == "WEBVTT\n\n")
    #expect(WebVTT.text(of: cue(0, 1, "x", "")) == "00:00:00.000 --> 00:00:01.000\nx\n\n")
    #expect(WebVTT.time(.seconds(360_000)) == "100:00:00.000")
  }

  @Test func plainTextHasNoMarks() {
    let spoken = cue(0, 1, "a <i>b</i>\n\n{\\an8} c")
    #expect(spoken.plain(naming: false) == "a <\u{200b}i>b<\u{200b}/i>\n{\u{200b}\\an8} c")
    #expect(spoken.plain(naming: true).hasPrefix("Alice: a"))
  }

  // MARK: Segments

  @Test func aCueIsInEachSegmentInWhichItIsSeen() {
    var shown = ShownCaptions()
    shown.add(cue(3, 9, "long"))
    shown.add(cue(1, 2, "short"))
    #expect(shown.take(from: .zero, to: .seconds(4)) == [cue(1, 2, "short"), cue(3, 9, "long")])
    #expect(shown.take(from: .seconds(4), to: .seconds(8)) == [cue(3, 9, "long")])
    #expect(shown.take(from: .seconds(8), to: .seconds(12)) == [cue(3, 9, "long")])
    #expect(shown.take(from: .seconds(12), to: .seconds(16)).isEmpty)
  }

  @Test func whatComesBehindItsSegmentIsSeenInTheNext() {
    var shown = ShownCaptions()
    #expect(shown.take(from: .zero, to: .seconds(4)).isEmpty)
    shown.add(cue(1, 2, "short"))
    shown.add(cue(2, 4.5, "longer"))
    shown.add(cue(9, 10, "later"))
    #expect(shown.take(from: .seconds(4), to: .seconds(8)) == [cue(4, 5, "short"), cue(4, 6.5, "longer")])
    #expect(shown.take(from: .seconds(8), to: .seconds(12)) == [cue(9, 10, "later")])
  }

  @Test func aSegmentSaysWhenMediaBegins() {
    #expect(
      WebVTT.segment(of: [cue(1, 2, "x", "")], ticks: 90_000)
        == "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:90000,LOCAL:00:00:00.000\n\n00:00:01.000 --> 00:00:02.000\nx\n\n")
  }

  // MARK: Files

  /// That of a file of media in the folder.
  private func captionFile(of name: String) throws -> CaptionFile {
    try CaptionPlace().claim(beside: Destination(location: folder.path + "/" + name))
  }

  /// The disk may take its time.
  private func awaitText(_ text: String, of file: CaptionFile) async throws {
    let path = file.path
    try await eventually("another text in \(path)") { try String(contentsOfFile: path, encoding: .utf8) == text }
  }

  /// Of the file on the disk; one that is written anew is another one.
  private func identity(of file: CaptionFile) throws -> ino_t {
    var status = stat()
    let result = stat(file.path, &status)
    try #require(result == 0)
    return status.st_ino
  }

  @Test func aFileIsWholeAfterEachCueAndInOrder() async throws {
    let media = Destination(location: folder.path + "/call.mkv")
    let file = try captionFile(of: "call.mkv")
    #expect(file.path == folder.path + "/call.vtt")
    #expect(CaptionPlace(keepsEnding: true).path(beside: media) == media.location + ".vtt")
    #expect(try String(contentsOfFile: file.path, encoding: .utf8).isEmpty)
    file.begin()
    try await awaitText(WebVTT.head, of: file)
    let before = try identity(of: file)
    let cues = [cue(5, 6, "b"), cue(7, 9, "c"), cue(1, 8, "a"), cue(9, 10, "d")]
    for (index, cue) in cues.enumerated() {
      file.add(cue)
      try await awaitText(WebVTT.file(of: cues[...index].sorted { $0.start < $1.start }), of: file)
    }
    #expect(file.count == 4 && file.failure == nil)
    #expect(try identity(of: file) == before, "it was written anew")
    #expect(throws: LiveKitError.self) { try captionFile(of: "call.mkv") }
    try FileManager.default.removeItem(atPath: file.path)
    let late = cue(11, 12, "e")
    let failure = try await eventually("its failure") { () -> LiveKitError? in
      file.add(late)
      return file.failure
    }
    #expect(failure.message.contains("removed"), "\(failure)")
    file.release()
  }

  /// Behind the others, or between them.
  @Test(arguments: [3.0, 1]) func whatComesAfterTheEndOfAFileIsAFailure(_ start: Double) async throws {
    let file = try captionFile(of: "a.mkv")
    file.add(cue(2, 3, "a"))
    file.release()
    #expect(file.failure == nil)
    file.add(cue(start, 5, "late"))
    let failure = try await eventually("its failure") { file.failure }
    #expect(failure.message.contains("closed already"), "\(failure)")
  }

  /// It is longer ago than what is said at once: then all is written anew.
  @Test func whatBeganLongBeforeTheOthersIsInItsPlace() async throws {
    let file = try captionFile(of: "long.mkv")
    let cues = (1...60).map { cue(Double($0), 100, "\($0)") } + [cue(0, 101, "the first")]
    for cue in cues { file.add(cue) }
    try await awaitText(WebVTT.file(of: cues.sorted { $0.start < $1.start }), of: file)
    file.release()
  }

  @Test func aFileThatHasNotBegunGoes() async throws {
    let file = try captionFile(of: "a.mp4")
    file.release()
    try await FileClaim.untilFree(file.path)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }
}

extension Captions {
  /// Of a job that was never paused.
  fileprivate mutating func note(_ segment: TranscriptionSegment, of speaker: Speaker, at now: Duration) -> CaptionCue?
  {
    note(segment, of: speaker, at: now) { max(now - $0, .zero) }
  }
}
