import MediaCore
import MediaPipelines
import Testing

@Suite struct KeptGroupTests {
  private func at(_ milliseconds: Int) -> MediaTime { MediaTime(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// Frames 40 ms apart, of which those in `keyframes` are some.
  private func group(_ frames: Range<Int>, keyframes: Set<Int>) -> KeptGroup<Int> {
    var group = KeptGroup<Int>(.sinceKeyframe)
    for frame in frames { group.add(frame, isKeyframe: keyframes.contains(frame), at: at(frame * 40)) }
    return group
  }

  @Test func itBeginsWithTheNewestKeyframe() {
    #expect(group(0..<10, keyframes: [0, 6]).frames(at: at(400)) == [6, 7, 8, 9])
    #expect(group(0..<10, keyframes: []).frames(at: at(400)).isEmpty)
  }

  @Test func oneThatBecomesTooLongGoesAsAWhole() {
    #expect(group(0..<26, keyframes: [0]).frames(at: at(1000)).count == 26)
    #expect(group(0..<27, keyframes: [0]).frames(at: at(1040)).isEmpty)
    // And nothing is kept before the next keyframe.
    #expect(group(0..<100, keyframes: [0, 98]).frames(at: at(3960)) == [98, 99])
  }

  @Test func whatCameBeforeAPauseIsNoBeginning() {
    #expect(group(0..<5, keyframes: [0]).frames(at: at(1001)).isEmpty)
  }

  @Test func nothingIsKeptAcrossAChange() {
    var group = group(0..<5, keyframes: [0])
    group.clear()
    group.add(5, isKeyframe: false, at: at(200))
    #expect(group.frames(at: at(200)).isEmpty)
  }

  @Test func ofAudioTheLastSecondIsKept() {
    var group = KeptGroup<Int>(.none)
    for frame in 0..<500 {
      group.add(frame, isKeyframe: true, at: at(frame * 20))
      #expect(group.frames(at: at(frame * 20)) == Array(max(0, frame - 50)...frame))
    }
    #expect(group.frames(at: at(499 * 20 + 500)).first == 474)
  }
}
