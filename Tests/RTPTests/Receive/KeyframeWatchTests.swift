import MediaCore
import Testing

@testable import RTP

@Suite("When a keyframe is asked for")
struct KeyframeWatchTests {
  @Test func aBeginningWithoutAKeyframeAsksForOne() {
    var watch = KeyframeWatch()
    watch.note(isKeyframe: false, mayAsk: true, at: .ms(1000))
    #expect(watch.nextDeadline == .ms(1050))
    // The packets that follow put nothing off.
    watch.note(isKeyframe: false, mayAsk: true, at: .ms(1020))
    #expect(watch.poll(at: .ms(1049)) == false)
    #expect(watch.poll(at: .ms(1050)) == true)
  }

  @Test func aKeyframeThatIsOnlyLateIsNotAskedFor() {
    var watch = KeyframeWatch()
    watch.note(isKeyframe: false, mayAsk: true, at: .ms(1000))
    watch.note(isKeyframe: true, mayAsk: true, at: .ms(1010))
    watch.note(isKeyframe: false, mayAsk: true, at: .ms(1020))
    #expect(watch.nextDeadline == nil)
    #expect(watch.poll(at: .ms(9000)) == false)
  }

  @Test func whoMayNotAskDoesNot() {
    var watch = KeyframeWatch()
    watch.note(isKeyframe: false, mayAsk: false, at: .ms(1000))
    #expect(watch.nextDeadline == nil)
  }

  @Test func aRequestWaitsForTheEndOfAPause() {
    var watch = KeyframeWatch()
    watch.isPaused = true
    watch.request()
    #expect(watch.nextDeadline == nil)
    #expect(watch.poll(at: .ms(1000)) == false)
    watch.isPaused = false
    #expect(watch.poll(at: .ms(1000)) == true)
  }

  @Test func aRequestIsRepeatedOnlyWhereItsAnswerIsSeen() {
    var blind = KeyframeWatch()
    blind.request()
    #expect(blind.poll(at: .ms(1000)) == true)
    #expect(blind.nextDeadline == nil)
    var seeing = KeyframeWatch()
    seeing.note(isKeyframe: true, mayAsk: true, at: .ms(1000))
    seeing.request()
    #expect(seeing.poll(at: .ms(2000)) == true)
    #expect(seeing.nextDeadline == .ms(2600))
  }
}
