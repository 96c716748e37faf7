import MediaCore
import Testing

@Suite struct RetryPauseTests {
  @Test func whatFailsSoonIsLeftAloneForLonger() {
    var pause = RetryPause()
    var now = MediaTime(nanoseconds: 0)
    for seconds in [2, 4, 8, 16, 32, 60, 60] {
      let next = pause.next(at: now)
      #expect(next == .seconds(seconds))
      // It runs for a while each time.
      now = now + next + .seconds(59)
    }
    #expect(pause.next(at: now + .seconds(10)) == .seconds(2))
  }

  @Test func itIsOverWhenItHasBeenWaitedFor() {
    var pause = RetryPause()
    let now = MediaTime(nanoseconds: 0)
    let before = pause.isOver(at: now)
    pause.next(at: now)
    #expect(before && !pause.isOver(at: now + .milliseconds(1999)) && pause.isOver(at: now + .seconds(2)))
  }
}
