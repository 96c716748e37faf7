import MediaCore
import Testing

@testable import MediaBridge

@Suite("Placing media in a file")
struct OutputTimelineTests {
  private static let start = MediaTime(nanoseconds: 1_000_000_000_000)
  private var timeline = OutputTimeline(hasAudio: true, hasVideo: true, beginsWithPicture: true)

  private static func time(_ milliseconds: Int) -> MediaTime { start + .milliseconds(milliseconds) }

  private mutating func picture(_ milliseconds: Int, isKeyframe: Bool = false) -> Int? {
    let time = Self.time(milliseconds)
    return timeline.place(pictureAt: time, isKeyframe: isKeyframe, now: time)?.milliseconds
  }

  private mutating func sound(_ milliseconds: Int, now: Int? = nil) -> (start: Int, silence: Int)? {
    let place = timeline.place(
      soundAt: Self.time(milliseconds), duration: .milliseconds(20), now: Self.time(now ?? milliseconds))
    return place.map { ($0.start.milliseconds, $0.silence.count) }
  }

  @Test mutating func theFileBeginsWithTheFirstKeyframe() throws {
    #expect(sound(0) == nil)
    #expect(picture(20) == nil)
    #expect(picture(60, isKeyframe: true) == 0)
    #expect(sound(40) == nil, "before the first moment")
    let first = try #require(sound(60))
    #expect(first == (0, 0))
    #expect(picture(100) == 40)
  }

  @Test mutating func aFileThatWaitsForNoPictureBeginsWithSoundAndIsBlackUntilOneComes() throws {
    timeline = OutputTimeline(hasAudio: true, hasVideo: true, beginsWithPicture: false)
    #expect(try #require(sound(0)) == (0, 0))
    let filling = timeline.advance(to: Self.time(2600))
    #expect(filling.pictures.map(\.milliseconds) == [0, 500, 1000])
    #expect(picture(3000, isKeyframe: true) == 3000)
  }

  @Test mutating func picturesNeverGoBack() {
    #expect(picture(0, isKeyframe: true) == 0)
    #expect(picture(100) == 100)
    #expect(picture(40) == 101)
    #expect(picture(100) == 102)
    #expect(picture(140) == 140)
  }

  /// A sender's report moves the clock back by a block: no two have one time, at which players stop.
  @Test mutating func audioNeverStandsStill() throws {
    #expect(picture(0, isKeyframe: true) == 0)
    #expect(try #require(sound(20)) == (20, 0))
    #expect(try #require(sound(20)) == (21, 0))
    #expect(try #require(sound(40)) == (40, 0))
  }

  @Test mutating func silenceFillsWhatIsMissingOnce() throws {
    #expect(picture(0, isKeyframe: true) == 0)
    #expect(try #require(sound(0)) == (0, 0))
    #expect(try #require(sound(1020)) == (1020, 50))
    #expect(sound(500) == nil, "its place is taken by silence")
  }

  @Test mutating func nothingStandsInWhileMediaMayStillCome() {
    #expect(picture(0, isKeyframe: true) == 0)
    _ = sound(0)
    #expect(timeline.advance(to: Self.time(1400)) == OutputTimeline.Filling())
    let filling = timeline.advance(to: Self.time(2600))
    #expect(filling.pictures.map(\.milliseconds) == [500, 1000])
    #expect(filling.silence.first?.milliseconds == 20)
    #expect(filling.silence.last?.milliseconds == 1080)
  }

  @Test mutating func bothTracksEndTogether() {
    #expect(picture(0, isKeyframe: true) == 0)
    _ = sound(0)
    for step in 1...24 { _ = picture(step * 40) }
    let filling = timeline.complete(at: Self.time(1000))
    #expect(filling.pictures.isEmpty)
    #expect(filling.silence.last?.milliseconds == 940)
    #expect(timeline.length == .milliseconds(960))
  }

  @Test mutating func aRecordingThatEndsInAPauseLastsUntilItsEnd() throws {
    #expect(picture(0, isKeyframe: true) == 0)
    _ = sound(0)
    let filling = timeline.complete(at: Self.time(4000))
    #expect(filling.pictures.map(\.milliseconds).suffix(2) == [3920, 3960])
    #expect(timeline.length == .milliseconds(4000))
    #expect(try #require(filling.silence.last) == .milliseconds(3980))
  }

  @Test mutating func aClockThatRunsAwayCannotFillTheDisk() throws {
    #expect(picture(0, isKeyframe: true) == 0)
    let year = 365 * 24 * 3_600_000
    let placed = try #require(sound(year, now: 100))
    #expect(placed.start == 1100 && placed.silence == 55)
    #expect(timeline.place(pictureAt: Self.time(year), isKeyframe: false, now: Self.time(100)) == .milliseconds(1100))
  }

  @Test mutating func aFileOfSoundHasNoPictures() {
    timeline = OutputTimeline(hasAudio: true, hasVideo: false, beginsWithPicture: false)
    _ = sound(0)
    #expect(timeline.advance(to: Self.time(5000)).pictures.isEmpty)
    #expect(timeline.complete(at: Self.time(6000)).pictures.isEmpty)
  }
}

extension Duration {
  fileprivate var milliseconds: Int { Int(nanoseconds / 1_000_000) }
}
