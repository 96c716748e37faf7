import MediaCore
import Testing

@testable import MediaPipelines

/// What of two pipelines goes on.
@Suite struct MediaTurnsTests {
  /// Frames by their number, 40 ms apart, of a mix and the one that takes over from it.
  private struct Run {
    private var turns = MediaTurns<Int>()
    private(set) var passed: [Int] = []

    mutating func mix(_ turn: Int, _ frames: Int...) {
      for frame in frames {
        let verdict = turns.take(100 * turn + frame, of: turn, at: MediaTime(nanoseconds: Int64(frame) * 40_000_000))
        if verdict == .pass { passed.append(100 * turn + frame) }
        guard verdict == .drain else { continue }
        while let held = turns.drain() { passed += held }
      }
    }

    mutating func change(to turn: Int, at frame: Int) {
      turns.change(to: turn, at: MediaTime(nanoseconds: Int64(frame) * 40_000_000))
    }

    /// Whether the next one has taken over since it was asked last.
    var hasChanged: Bool {
      mutating get { turns.settle() }
    }
  }

  @Test func theNextGoesOnWhereTheOneBeforeEnds() {
    var run = Run()
    run.mix(0, 0, 1)
    run.mix(1, 1)
    run.change(to: 1, at: 3)
    run.mix(1, 2, 3, 4)
    #expect(run.passed == [0, 1])
    run.mix(0, 2)
    var hasChanged = run.hasChanged
    #expect(!hasChanged)
    run.mix(0, 3)
    run.mix(1, 5)
    run.mix(0, 4)
    hasChanged = run.hasChanged
    #expect(run.passed == [0, 1, 2, 103, 104, 105] && hasChanged)
    run.mix(0, 5)
    run.mix(1, 6)
    hasChanged = run.hasChanged
    #expect(run.passed == [0, 1, 2, 103, 104, 105, 106] && !hasChanged)
  }

  /// One that could not take over has its number for itself.
  @Test func whatWasGivenUpStaysOut() {
    var run = Run()
    run.mix(0, 0)
    run.mix(1, 0, 1)
    run.change(to: 2, at: 2)
    run.mix(1, 2, 3)
    run.mix(0, 1, 2)
    run.mix(2, 2)
    let hasChanged = run.hasChanged
    #expect(run.passed == [0, 1, 202] && hasChanged)
  }

  @Test func oneThatBringsNothingIsNotWaitedForForEver() {
    var run = Run()
    run.mix(0, 0)
    run.change(to: 1, at: 1)
    for frame in 1...40 { run.mix(1, frame) }
    let hasChanged = run.hasChanged
    #expect(run.passed == [0] + (101...140) && hasChanged)
  }

  /// As one that was to wait for longer: it still brings what was before the change.
  @Test func oneThatLagsBehindIsWaitedFor() {
    var run = Run()
    run.mix(0, 0)
    run.change(to: 1, at: 40)
    for frame in 1...50 {
      run.mix(1, frame + 40)
      run.mix(0, frame)
    }
    #expect(run.passed == Array(0..<40) + (141...190))
  }

  @Test func whatComesTooLateIsLeftOut() {
    var run = Run()
    run.mix(0, 0)
    run.change(to: 1, at: 2)
    for frame in 2...33 { run.mix(1, frame) }
    run.mix(0, 1, 2)
    #expect(run.passed == [0] + (102...133))
  }
}
