import Testing

@testable import Egress

/// Where segments end.
@Suite struct SegmentCutterTests {
  /// Frames at 25 a second.
  /// - Returns: the durations of all segments, in milliseconds.
  private func cut(_ cutter: SegmentCutter, frames: Int, keyframes: [Int]) -> [Int] {
    var cutter = cutter
    var cuts = (0..<frames).flatMap { frame in
      cutter.take(.milliseconds(frame * 40), isKeyframe: keyframes.contains(frame))
    }
    if let rest = cutter.rest(until: nil) { cuts.append(rest) }
    #expect(zip(cuts, cuts.dropFirst()).allSatisfy { $0.begin + $0.duration == $1.begin })
    return cuts.map { Int($0.duration / .milliseconds(1)) }
  }

  @Test func eachEndsAtTheKeyframeThatWasAskedFor() {
    #expect(cut(SegmentCutter(.seconds(4)), frames: 225, keyframes: [0, 95, 195]) == [3800, 4000, 1200])
  }

  /// As when another destination wants them more often.
  @Test func keyframesThatComeMoreOftenMakeNoShortSegments() {
    let durations = cut(SegmentCutter(.seconds(4)), frames: 500, keyframes: Array(stride(from: 0, to: 500, by: 50)))
    #expect(durations == [2000, 4000, 4000, 4000, 4000, 2000])
  }

  /// Behind it the next one is as far away as ever.
  @Test func aKeyframeInBetweenIsNotLetBy() {
    let durations = cut(SegmentCutter(.seconds(4)), frames: 350, keyframes: [0, 100, 200, 240, 340])
    #expect(durations == [4000, 4000, 1600, 4000, 400])
  }

  /// An encoder begins so where somebody waits for the second frame.
  @Test func twoKeyframesInARowMakeNoShortSegment() {
    for wanted in [1, 2, 4] {
      let keyframes = [0, 1] + Array(stride(from: 25 * wanted, to: 400, by: 25 * wanted))
      let durations = cut(SegmentCutter(.seconds(wanted)), frames: 400, keyframes: keyframes)
      #expect(durations == Array(repeating: 1000 * wanted, count: 16 / wanted))
    }
  }

  /// Then the next ones begin with keyframes again.
  @Test func aKeyframeRightBehindACutWithoutOneEndsThatSegment() {
    #expect(cut(SegmentCutter(.seconds(4)), frames: 225, keyframes: [0, 120, 220]) == [4480, 320, 4000, 200])
  }

  @Test func noneIsLongerThanThePlaylistPromises() {
    for wanted in [0.5, 1.5, 2, 4] {
      let cutter = SegmentCutter(.seconds(wanted))
      let durations = cut(cutter, frames: 1000, keyframes: [0, 3, 400])
      #expect(durations.allSatisfy { $0 > 0 && ($0 + 500) / 1000 <= cutter.targetDuration }, "\(wanted): \(durations)")
      #expect(durations.reduce(0, +) == 40_000)
    }
  }

  /// As when the machine or the network holds frames up: the frame in front of the gap begins another segment.
  @Test func aFrameThatComesLateMakesNoSegmentTooLong() {
    var cutter = SegmentCutter(.seconds(2))
    for frame in 0..<50 { #expect(cutter.take(.milliseconds(frame * 40), isKeyframe: frame == 0).isEmpty) }
    let cut = SegmentCutter.Cut(begin: .zero, duration: .milliseconds(1960), isBeforeLastFrame: true)
    #expect(cutter.take(.milliseconds(2800), isKeyframe: false) == [cut])
    let next = SegmentCutter.Cut(begin: .milliseconds(1960), duration: .milliseconds(1240))
    #expect(cutter.take(.milliseconds(3200), isKeyframe: true) == [next])
  }

  @Test func aKeyframeThatComesTooLateEndsTwo() {
    var cutter = SegmentCutter(.seconds(2))
    for frame in 0..<60 { _ = cutter.take(.milliseconds(frame * 40), isKeyframe: frame == 0) }
    let cuts = cutter.take(.milliseconds(2600), isKeyframe: true)
    #expect(cuts.map(\.duration) == [.milliseconds(2360), .milliseconds(240)])
    #expect(cuts.map(\.isBeforeLastFrame) == [true, false])
  }

  @Test func audioIsCutAnywhere() {
    var cutter = SegmentCutter(.seconds(2))
    let cuts = (0..<500).flatMap { cutter.take(.milliseconds($0 * 21), isKeyframe: true) }
    #expect(cuts.dropFirst().allSatisfy { $0.duration > .milliseconds(1970) && $0.duration <= .seconds(2) }, "\(cuts)")
  }

  @Test func nothingHasNoLength() {
    var cutter = SegmentCutter(.seconds(4))
    #expect(cutter.rest(until: nil) == nil)
    #expect(cutter.take(.seconds(7), isKeyframe: true).isEmpty && cutter.rest(until: nil)?.begin == .seconds(7))
  }

  /// Five frames of AAC come as one, and the last of them alone.
  @Test func aLastStretchOfAudioMayBeShort() {
    var cutter = SegmentCutter(.seconds(6), hasVideo: false)
    for start in [0, 100, 200] { _ = cutter.take(.milliseconds(start), isKeyframe: true) }
    #expect(cutter.rest(until: .milliseconds(220))?.duration == .milliseconds(220))
    #expect(cutter.rest(until: nil)?.duration == .milliseconds(300))
    _ = cutter.take(.milliseconds(300), isKeyframe: true, lasting: .milliseconds(50))
    #expect(cutter.rest(until: .milliseconds(320))?.duration == .milliseconds(350), "which is known")
  }
}
