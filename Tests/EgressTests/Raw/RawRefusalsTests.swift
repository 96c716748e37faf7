import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

/// What cannot be had of what `frames` and `pcm` take.
@Suite struct RawRefusalsTests {
  private typealias Held = RawRefusals.Held

  private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(nanoseconds: milliseconds * 1_000_000) }
  private func refused(_ key: String, _ sid: String? = nil, _ code: LiveKitError.Code = .encrypted) -> Held {
    Held(key: key, sid: sid ?? key, refusal: LiveKitError(code, "no \(sid ?? key)"))
  }
  private func good(_ key: String) -> Held { Held(key: key, sid: key, refusal: nil) }

  @Test func whoCannotBeHadEndsNothingWhileOthersCan() {
    var refusals = RawRefusals()
    #expect(refusals.note([refused("alice"), good("bob")], at: at(0)) == true)
    #expect(refusals.note([refused("alice"), good("bob")], at: at(9000)) == false, "it is no news")
    #expect(refusals.hopelessness(at: at(9000)) == nil)
    #expect(refusals.lack == LiveKitError(.encrypted, "no alice"), "but it is missing")
  }

  @Test func whereNobodyCanBeHadSomebodyElseIsWaitedFor() {
    var refusals = RawRefusals()
    _ = refusals.note([], at: at(0))
    #expect(refusals.hopelessness(at: at(9000)) == nil, "nobody is there yet")
    _ = refusals.note([refused("alice")], at: at(10_000))
    #expect(refusals.hopelessness(at: at(11_999)) == nil)
    #expect(refusals.note([refused("alice"), refused("carol", nil, .unsupportedCodec)], at: at(11_999)) == true)
    #expect(refusals.hopelessness(at: at(13_998)) == nil, "there is another one")
    let end = refusals.hopelessness(at: at(13_999))
    #expect(end == LiveKitError(.encrypted, "no alice; no carol"))
    _ = refusals.note([refused("alice"), good("bob")], at: at(13_999))
    #expect(refusals.hopelessness(at: at(99_999)) == nil, "bob has come")
  }

  @Test func whatComesInItsPlaceIsNotMissing() {
    var refusals = RawRefusals()
    #expect(refusals.note([refused("", "TR_alice")], at: at(0)) == true)
    #expect(refusals.note([refused("", "TR_carol")], at: at(0)) == true, "another one is")
    #expect(refusals.note([Held(key: "", sid: "TR_bob", refusal: nil)], at: at(0)) == false)
    #expect(refusals.lack == nil)
  }

  @Test func whoHasLeftWasMissing() {
    var refusals = RawRefusals()
    _ = refusals.note([refused("alice"), good("bob")], at: at(0))
    _ = refusals.note([good("bob")], at: at(1000))
    #expect(refusals.lack?.message == "no alice")
  }

  @Test func ofWhomNothingComesIsMissingUntilSomethingDoes() {
    let silence = LiveKitError(.noMedia, "nothing of bob", fault: .server)
    var refusals = RawRefusals()
    refusals.noteSilence(of: "bob", silence)
    #expect(refusals.note([good("alice"), good("bob")], at: at(0)) == true, "another one may be taken")
    #expect(refusals.lack == silence && refusals.isSilent("bob") && !refusals.isSilent("alice"))
    #expect(refusals.note([good("bob")], at: at(0)) == false)
    #expect(refusals.note([good("bob")], at: at(9000)) == false)
    #expect(refusals.hopelessness(at: at(9000)) == nil, "it may still come")
    refusals.forgetSilence(of: "bob")
    #expect(refusals.note([good("bob")], at: at(9000)) == false)
    #expect(refusals.lack == nil && !refusals.isSilent("bob"))
  }

  @Test func whyAWaitWasInVainIsSaid() {
    let stopped = LiveKitError(.noMedia, "stopped while waiting for video of somebody")
    let late = LiveKitError(.timedOut, "waited in vain for video of somebody")
    var refusals = RawRefusals()
    #expect(refusals.reason(stopped) == stopped && refusals.reason(late) == late)
    _ = refusals.note([refused("alice")], at: at(0))
    let wish = "video of somebody; no alice"
    #expect(refusals.reason(stopped) == LiveKitError(.encrypted, "stopped while waiting for \(wish)"))
    #expect(refusals.reason(late) == LiveKitError(.timedOut, "waited in vain for \(wish)"))
  }

  @Test func someAreNamedAndTheOthersCounted() {
    var refusals = RawRefusals()
    _ = refusals.note((1...7).map { refused("\($0)") }, at: at(0))
    #expect(refusals.lack?.message == "no 1; no 2; no 3; no 4; no 5; and 2 more")
  }
}
