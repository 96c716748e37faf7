import MediaCore
import Testing

@testable import MediaBridge

/// How long after its moment audio is played, for audio that comes more or less late.
@Suite struct PlaybackDelayTests {
  /// A track with 20 ms in each buffer.
  private struct Track {
    var delay: PlaybackDelay
    private var now = MediaTime(nanoseconds: 1_000_000_000_000)

    init(least: Duration = .milliseconds(100)) { delay = PlaybackDelay(least: least) }

    var current: Duration { delay.current }

    /// - Parameter lateness: in ms.
    mutating func hear(
      _ lateness: Int, count: Int = 1, isQuiet: Bool = false, step: Duration = .milliseconds(20)
    ) {
      for _ in 0..<count {
        delay.take(lateness: .milliseconds(lateness), isQuiet: isQuiet, at: now)
        now = now + step
      }
    }
  }

  @Test func audioInTimeIsPlayedWithTheMixersOwnDelay() {
    var track = Track()
    for index in 0..<2000 { track.hear(index * 37 % 90) }
    #expect(track.current == .milliseconds(100) && track.delay.extra == .zero)
    #expect(!track.delay.asksForLevel(.milliseconds(90)))
    #expect(track.delay.asksForLevel(.milliseconds(95)))
  }

  @Test func itGrowsAtOnceWithAudioThatComesTooLate() {
    var track = Track()
    track.hear(0)
    track.hear(150)
    #expect(track.current == .milliseconds(180))
    #expect(track.delay.extra == .milliseconds(80))
    // What is a little later still fits.
    track.hear(168)
    #expect(track.current == .milliseconds(180))
  }

  @Test func jitterLeavesAFewGapsAndThenNone() {
    var track = Track()
    track.hear(0)
    var gaps: [Int] = []
    for index in 0..<3000 {
      let before = track.current
      // Between 100 and 200 ms.
      track.hear(100 + index * 37 % 100)
      if track.current != before { gaps.append(index) }
    }
    #expect(gaps.count <= 4 && gaps.allSatisfy { $0 < 50 }, "\(gaps)")
    #expect(track.current == .milliseconds(220))
  }

  @Test func itShrinksInQuietAfterACalmAndByLittle() {
    var track = Track()
    track.hear(0)
    track.hear(300)
    #expect(track.current == .milliseconds(340))
    // Calm, but not for long enough.
    track.hear(20, count: 350)
    track.hear(20, count: 40, isQuiet: true)
    #expect(track.current == .milliseconds(340))
    // Long enough, but not quiet.
    track.hear(20, count: 600)
    #expect(track.current == .milliseconds(340))
    for _ in 0..<40 {
      let before = track.current
      track.hear(20, isQuiet: true)
      #expect(before - track.current <= PlaybackDelay.cut)
    }
    #expect(track.current == .milliseconds(100))
  }

  @Test func itDoesNotShrinkBelowWhatNearlyAllAudioNeeds() {
    var track = Track()
    track.hear(0)
    track.hear(400)
    for index in 0..<1000 { track.hear(index % 10 == 0 ? 200 : 20) }
    track.hear(20, count: 100, isQuiet: true)
    #expect(track.current == .milliseconds(240))
  }

  /// As with a sender that sends less in silence.
  @Test func whatIsQuietAsksForNothing() {
    var track = Track()
    track.hear(0)
    track.hear(420, count: 50, isQuiet: true, step: .milliseconds(400))
    #expect(track.current == .milliseconds(100))
  }

  @Test func whatIsOutOfReachAsksForNothing() {
    var track = Track()
    track.hear(0)
    track.hear(700, count: 50)
    #expect(track.current == .milliseconds(100))
    track.hear(490)
    #expect(track.current == PlaybackDelay.most)
  }

  /// What has waited for somebody to listen comes in a rush.
  @Test func whatWasKeptAtTheBeginningAsksForNothing() {
    var track = Track()
    for lateness in stride(from: 400, through: 0, by: -20) { track.hear(lateness, step: .milliseconds(1)) }
    #expect(track.current == .milliseconds(100))
  }

  @Test func aTrackThatIsLateFromTheBeginningIsPlayedASecondLater() {
    var track = Track()
    track.hear(200, count: 50)
    #expect(track.current == .milliseconds(100))
    track.hear(200)
    #expect(track.current == .milliseconds(240))
  }

  @Test func aMixerThatWaitsForLongerKeepsItsDelay() {
    var track = Track(least: .seconds(1))
    for lateness in [0, 480, 900, 1500] { track.hear(lateness) }
    #expect(track.current == .seconds(1) && track.delay.extra == .zero)
  }

  @Test func aPauseBetweenWordsIsQuietAndSoftSpeechIsNot() {
    var quiet = QuietAudio()
    // The same noise before and after something was said, and soft speech.
    let peaks: [Float] = [0.003, 0.02, 0.8, 0.02, 0.05]
    #expect(peaks.map { quiet.contains(peak: $0) } == [true, false, false, true, false])
    // Noise that is all there is for a while.
    let noise = (0..<1000).map { _ in quiet.contains(peak: 0.02) }
    #expect(noise.last == false)
  }
}
