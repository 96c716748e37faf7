import MediaBridge
import Testing

@testable import Egress

/// What is told of losses while mixes take over from each other.
@Suite struct SceneInputsTests {
  /// The other kind's template takes over meanwhile.
  @Test func aTemplateThatIsRefusedForgetsNothingOfTheOtherKind() {
    var inputs = SceneInputs()
    let audio = inputs.take(.audio, notMixed: 0)
    _ = inputs.take(.video, notMixed: 5)
    inputs.give(.audio, audio)
    #expect(inputs.losses.framesNotMixed == 5)
  }

  /// What the refused one has left out nobody would have seen.
  @Test func whatWasNeverSeenIsNotCounted() {
    var inputs = SceneInputs()
    _ = inputs.take(.video, notMixed: 2)
    let video = inputs.take(.video, notMixed: 3)
    _ = inputs.take(.video, notMixed: 40)
    inputs.give(.video, video)
    #expect(inputs.losses.framesNotMixed == 2, "those 3 are the mixer's again, which goes on")
  }

  @Test func lossesAreOfOneKindEach() {
    var (one, other) = (MixLosses(), MixLosses())
    (one.framesNotMixed, one.framesDropped, one.audioDropped, one.audioLate) = (1, 2, 3, 4)
    (other.framesNotMixed, other.framesDropped, other.audioDropped, other.audioLate) = (5, 6, 7, 8)
    (one.framesAhead, other.framesAhead) = (9, 10)
    let mixed = one.with(.video, of: other)
    #expect(mixed.framesNotMixed == 5 && mixed.framesDropped == 6 && mixed.audioDropped == 3 && mixed.audioLate == 4)
    #expect(mixed.framesAhead == 10 && (one + other).framesAhead == 19)
    #expect(mixed.with(.audio, of: other) == other)
  }
}
