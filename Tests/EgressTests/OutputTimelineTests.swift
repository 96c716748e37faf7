import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

@Suite("Placing media in a file")
struct OutputTimelineTests {
  private static let start = MediaTime(nanoseconds: 1_000_000_000_000)
  private var timeline = OutputTimeline(hasAudio: true, hasVideo: true, beginsWithFrame: true)

  private static func time(_ milliseconds: Int) -> MediaTime { start + .milliseconds(milliseconds) }

  private mutating func frame(_ milliseconds: Int, isKeyframe: Bool = false) -> Int? {
    let time = Self.time(milliseconds)
    return timeline.place(frameAt: time, isKeyframe: isKeyframe, now: time)?.milliseconds
  }

  private mutating func audio(_ milliseconds: Int, now: Int? = nil) -> (start: Int, silence: Int)? {
    let place = timeline.place(
      audioAt: Self.time(milliseconds), duration: .milliseconds(20), now: Self.time(now ?? milliseconds))
    return place.map { ($0.start.milliseconds, $0.silence.count) }
  }

  @Test mutating func theFileBeginsWithTheFirstKeyframe() throws {
    #expect(audio(0) == nil)
    #expect(frame(20) == nil)
    #expect(frame(60, isKeyframe: true) == 0)
    #expect(audio(40) == nil, "before the first moment")
    let first = try #require(audio(60))
    #expect(first == (0, 0))
    #expect(frame(100) == 40)
  }

  @Test mutating func aFileThatWaitsForNoFrameBeginsWithAudioAndIsBlackUntilOneComes() throws {
    timeline = OutputTimeline(hasAudio: true, hasVideo: true, beginsWithFrame: false)
    #expect(try #require(audio(0)) == (0, 0))
    let filling = timeline.advance(to: Self.time(2600))
    #expect(filling.frames.map(\.milliseconds) == [0, 500, 1000])
    #expect(frame(3000, isKeyframe: true) == 3000)
  }

  @Test mutating func framesNeverGoBack() {
    #expect(frame(0, isKeyframe: true) == 0)
    #expect(frame(100) == 100)
    #expect(frame(40) == 101)
    #expect(frame(100) == 102)
    #expect(frame(140) == 140)
  }

  /// A sender's report moves the clock back by a block: no two have one time, at which players stop.
  @Test mutating func audioNeverStandsStill() throws {
    #expect(frame(0, isKeyframe: true) == 0)
    #expect(try #require(audio(0)) == (0, 0))
    #expect(try #require(audio(20)) == (20, 0))
    #expect(try #require(audio(20)) == (22, 0))
    #expect(try #require(audio(40)) == (40, 0))
  }

  @Test mutating func silenceFillsWhatIsMissingOnce() throws {
    #expect(frame(0, isKeyframe: true) == 0)
    #expect(try #require(audio(0)) == (0, 0))
    #expect(try #require(audio(1020)) == (1020, 50))
    #expect(audio(500) == nil, "its place is taken by silence")
  }

  @Test mutating func onePacketThatIsMissingIsSilenceAndJitterIsNot() throws {
    #expect(frame(0, isKeyframe: true) == 0)
    #expect(try #require(audio(0)) == (0, 0))
    #expect(try #require(audio(40)) == (40, 1))
    #expect(try #require(audio(75)) == (75, 0))
    #expect(try #require(audio(80)) == (80, 0))
    #expect(try #require(audio(100)) == (100, 0))
  }

  /// It was late, and its clock moved a little meanwhile.
  @Test mutating func whatHasSilenceInItsPlaceIsLeftOut() throws {
    #expect(frame(0, isKeyframe: true) == 0)
    _ = audio(0)
    let silence = timeline.advance(to: Self.time(1540)).silence
    #expect(silence.last?.milliseconds == 20)
    #expect(audio(21, now: 1541) == nil)
    #expect(try #require(audio(41, now: 1542)) == (41, 0))
    #expect(try #require(audio(46, now: 1543)) == (46, 0), "of what was sent nothing is left out")
  }

  @Test mutating func nothingStandsInWhileMediaMayStillCome() {
    #expect(frame(0, isKeyframe: true) == 0)
    _ = audio(0)
    #expect(timeline.advance(to: Self.time(1400)) == OutputTimeline.Filling())
    let filling = timeline.advance(to: Self.time(2600))
    #expect(filling.frames.map(\.milliseconds) == [500, 1000])
    #expect(filling.silence.first?.milliseconds == 20)
    #expect(filling.silence.last?.milliseconds == 1080)
  }

  @Test mutating func bothTracksEndTogether() {
    #expect(frame(0, isKeyframe: true) == 0)
    _ = audio(0)
    for step in 1...24 { _ = frame(step * 40) }
    let filling = timeline.complete(at: Self.time(1000))
    #expect(filling.frames.isEmpty)
    #expect(filling.silence.last?.milliseconds == 940)
    #expect(timeline.length == .milliseconds(960))
  }

  @Test mutating func aRecordingThatEndsInAPauseLastsUntilItsEnd() throws {
    #expect(frame(0, isKeyframe: true) == 0)
    _ = audio(0)
    let filling = timeline.complete(at: Self.time(4000))
    #expect(filling.frames.map(\.milliseconds).suffix(2) == [3920, 3960])
    #expect(timeline.length == .milliseconds(4000))
    #expect(try #require(filling.silence.last) == .milliseconds(3980))
  }

  /// As on a machine that is too slow: it lasts as long as was asked.
  @Test mutating func whatIsMissingAtTheEndIsStoodInFor() {
    #expect(frame(0, isKeyframe: true) == 0)
    for step in 0...49 { _ = audio(step * 20) }
    #expect(timeline.complete(at: Self.time(1240)).frames.map(\.milliseconds) == [500, 1160, 1200])
    #expect(timeline.length == .milliseconds(1240))
  }

  @Test mutating func aClockThatRunsAwayCannotFillTheDisk() throws {
    #expect(frame(0, isKeyframe: true) == 0)
    let year = 365 * 24 * 3_600_000
    let placed = try #require(audio(year, now: 100))
    #expect(placed.start == 1100 && placed.silence == 55)
    #expect(timeline.place(frameAt: Self.time(year), isKeyframe: false, now: Self.time(100)) == .milliseconds(1100))
  }

  @Test mutating func aFileOfAudioHasNoFrames() {
    timeline = OutputTimeline(hasAudio: true, hasVideo: false, beginsWithFrame: false)
    _ = audio(0)
    #expect(timeline.advance(to: Self.time(5000)).frames.isEmpty)
    #expect(timeline.complete(at: Self.time(6000)).frames.isEmpty)
  }

  /// A line that is made while the job runs has no past to fill.
  @Test mutating func whatBeginsLateIsFilledFromThere() throws {
    timeline.begin(at: Self.start, from: .seconds(60))
    #expect(timeline.advance(to: Self.time(60_500)) == OutputTimeline.Filling())
    #expect(frame(59_980, isKeyframe: true) == 59_980, "what was decoded before it")
    #expect(try #require(audio(60_100)) == (60_100, 5))
    timeline = OutputTimeline(hasAudio: true, hasVideo: true, beginsWithFrame: true)
    timeline.begin(at: Self.start, from: .seconds(60))
    let filling = timeline.advance(to: Self.time(62_000))
    #expect(filling.frames.map(\.milliseconds) == [60_000, 60_500])
    #expect(filling.silence.count == 25 && filling.silence.first == .seconds(60))
  }
}

extension Duration {
  fileprivate var milliseconds: Int { Int(nanoseconds / 1_000_000) }
}
