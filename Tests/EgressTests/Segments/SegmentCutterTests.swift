import Testing

@testable import Egress

/// Where segments end.
@Suite struct SegmentCutterTests {
  /// Frames at 25 a second.
  /// - Returns: the durations of all segments, in milliseconds.
  private func cut(_ cutter: SegmentCutter, frames: Int, keyframes: [Int]) -> [Int] {
    var cutter = cutter
    var durations = (0..<frames).compactMap { frame in
      cutter.cut(at: .milliseconds(frame * 40), isKeyframe: keyframes.contains(frame))
    }
    if let rest = cutter.rest { durations.append(rest) }
    return durations.map { Int($0 / .milliseconds(1)) }
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

  @Test func noneIsLongerThanThePlaylistPromises() {
    for wanted in [0.5, 1.5, 2, 4] {
      let cutter = SegmentCutter(.seconds(wanted))
      let durations = cut(cutter, frames: 1000, keyframes: [0, 3, 400])
      #expect(durations.allSatisfy { $0 > 0 && ($0 + 500) / 1000 <= cutter.targetDuration }, "\(wanted): \(durations)")
      #expect(durations.reduce(0, +) == 40_000)
    }
  }

  @Test func audioIsCutAnywhere() {
    var cutter = SegmentCutter(.seconds(2))
    let durations = (0..<500).compactMap { cutter.cut(at: .milliseconds($0 * 21), isKeyframe: true) }
    #expect(durations.dropFirst().allSatisfy { $0 > .milliseconds(1970) && $0 <= .seconds(2) }, "\(durations)")
  }

  @Test func nothingHasNoLength() {
    var cutter = SegmentCutter(.seconds(4))
    #expect(cutter.rest == nil)
    #expect(cutter.cut(at: .seconds(7), isKeyframe: true) == nil && cutter.begin == .seconds(7))
  }
}
