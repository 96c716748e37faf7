import MediaCore
import Testing

@testable import RTP

@Suite("When a keyframe is asked for")
struct KeyframeWatchTests {
  @Test func aBeginningWithoutAKeyframeAsksForOne() {
    var watch = KeyframeWatch()
    watch.note(1, isKeyframe: false, mayAsk: true, at: .ms(1000))
    #expect(watch.nextDeadline == .ms(1050))
    // The packets that follow put nothing off.
    watch.note(2, isKeyframe: false, mayAsk: true, at: .ms(1020))
    #expect(watch.poll(at: .ms(1049)) == false)
    #expect(watch.poll(at: .ms(1050)) == true)
  }

  @Test func aKeyframeThatIsOnlyLateIsNotAskedFor() {
    var watch = KeyframeWatch()
    watch.note(3, isKeyframe: false, mayAsk: true, at: .ms(1000))
    watch.note(4, isKeyframe: true, mayAsk: true, at: .ms(1010))
    watch.note(5, isKeyframe: false, mayAsk: true, at: .ms(1020))
    #expect(watch.nextDeadline == nil)
    #expect(watch.poll(at: .ms(9000)) == false)
  }

  @Test func whoMayNotAskDoesNot() {
    var watch = KeyframeWatch()
    watch.note(6, isKeyframe: false, mayAsk: false, at: .ms(1000))
    #expect(watch.nextDeadline == nil)
  }

  @Test func aRequestWaitsForTheEndOfAPause() {
    var watch = KeyframeWatch()
    watch.isPaused = true
    watch.request(behind: 0)
    #expect(watch.nextDeadline == nil)
    #expect(watch.poll(at: .ms(1000)) == false)
    watch.isPaused = false
    #expect(watch.poll(at: .ms(1000)) == true)
  }

  @Test func aRequestIsRepeatedOnlyWhereItsAnswerIsSeen() {
    var blind = KeyframeWatch()
    blind.request(behind: 0)
    #expect(blind.poll(at: .ms(1000)) == true)
    #expect(blind.nextDeadline == nil)
    var seeing = KeyframeWatch()
    seeing.note(7, isKeyframe: true, mayAsk: true, at: .ms(1000))
    seeing.request(behind: 7)
    #expect(seeing.poll(at: .ms(2000)) == true)
    #expect(seeing.nextDeadline == .ms(2600))
  }

  /// One that comes again was sent before it was asked for.
  @Test func anOlderKeyframeIsNoAnswer() {
    var watch = KeyframeWatch()
    watch.note(1, isKeyframe: true, mayAsk: true, at: .ms(0))
    watch.request(behind: 20)
    #expect(watch.poll(at: .ms(1000)) == true)
    watch.note(10, isKeyframe: true, mayAsk: true, at: .ms(1010))
    #expect(watch.nextDeadline == .ms(1600))
    watch.note(21, isKeyframe: true, mayAsk: true, at: .ms(1020))
    #expect(watch.nextDeadline == nil)
  }

  @Test func behindALossOneKeyframeIsEnough() {
    var watch = KeyframeWatch()
    watch.note(30, isKeyframe: true, mayAsk: true, at: .ms(0))
    watch.request(behind: 20)
    #expect(watch.nextDeadline == nil)
    watch.request(behind: 40)
    #expect(watch.poll(at: .ms(1000)) == true)
  }
}
