import MediaCore
import MediaPipelines
import Testing

/// What a decoder takes in and makes, and when that calls for a keyframe.
@Suite struct DecoderCourseTests {
  private func at(_ milliseconds: Int) -> MediaTime { MediaTime(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// Frames of 40 ms, of which the first is a keyframe.
  /// - Parameters:
  ///   - broken: nothing comes out of these.
  ///   - marked: these come out with the mark that they do not follow on.
  /// - Returns: with which of them a keyframe was asked for.
  private func requests(
    of course: inout DecoderCourse, _ frames: Range<Int>, keyframes: Set<Int> = [0], broken: Set<Int> = [],
    marked: Set<Int> = []
  ) -> [Int] {
    frames.filter { frame in
      let asksBefore = course.goesIn(isKeyframe: keyframes.contains(frame), at: at(frame * 40))
      guard !broken.contains(frame) else { return asksBefore }
      let asksBehind = course.comesOut(isDiscontinuous: marked.contains(frame), at: at(frame * 40 + 5))
      return asksBefore || asksBehind
    }
  }

  @Test func whatIsDecodedNeedsNone() {
    var course = DecoderCourse()
    #expect(requests(of: &course, 0..<500, marked: [0]) == [])
  }

  @Test func behindAFrameThatCannotBeDecodedOneIsAskedForOnce() {
    var course = DecoderCourse()
    #expect(requests(of: &course, 0..<40, keyframes: [0, 20], broken: [10], marked: [11]) == [11])
  }

  /// vp9dec asks by itself, and makes nothing before it has come.
  @Test func aKeyframeThatHasComeWillDo() {
    var course = DecoderCourse()
    #expect(requests(of: &course, 0..<40, keyframes: [0, 15], broken: Set(10..<15), marked: [15]) == [])
  }

  /// As of av1dec, whose frames all need the one that is broken.
  @Test func whereNothingComesOutAnyMoreOneIsAskedFor() {
    var course = DecoderCourse()
    // One second from the first of them on.
    #expect(requests(of: &course, 0..<50, broken: Set(10..<50)) == [35])
  }

  /// Screens send a frame now and then, and hardware is some frames behind.
  @Test func fewFramesAreWaitedFor() {
    var course = DecoderCourse()
    let asked = (0..<7).map { course.goesIn(isKeyframe: $0 == 0, at: at($0 * 3000)) }
    #expect(asked.allSatisfy { !$0 })
  }

  /// A stream that stays wrong is not to cost its sender a keyframe for each frame.
  @Test func oneIsAskedForEverMoreSeldom() {
    var course = DecoderCourse()
    let keyframes = Set(stride(from: 0, to: 1000, by: 5))
    let asked = requests(of: &course, 0..<1000, keyframes: keyframes, marked: Set(0..<1000).subtracting(keyframes))
    #expect((4...6).contains(asked.count), "\(asked)")
    #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 >= 50 }, "2 s at least")
  }
}
