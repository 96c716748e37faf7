import MediaCore
import Testing

@testable import MediaPipelines

/// A frame by its number.
private struct Frame: HeldMedia, Equatable {
  var number: Int
  var size = 1000
}

/// What of two pipelines goes on.
@Suite struct MediaTurnsTests {
  /// Frames by their number, 40 ms apart, of a mix and the one that takes over from it.
  private struct Run {
    private var turns = MediaTurns<Frame>()
    private(set) var passed: [Int] = []
    /// Of a frame, in bytes.
    var size = 1000

    mutating func mix(_ turn: Int, _ frames: Int...) {
      for frame in frames {
        let media = Frame(number: 100 * turn + frame, size: size)
        let verdict = turns.take(media, of: turn, at: MediaTime(nanoseconds: Int64(frame) * 40_000_000))
        if verdict == .pass { passed.append(media.number) }
        guard verdict == .drain else { continue }
        while let held = turns.drain() { passed += held.map(\.number) }
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

  /// Decoded frames of 4K are twelve megabytes each.
  @Test func whatIsLargeIsHeldForLess() {
    var run = Run()
    run.size = 12_000_000
    run.mix(0, 0)
    run.change(to: 1, at: 5)
    for frame in 5...12 { run.mix(1, frame) }
    #expect(run.passed == [0])
    run.mix(1, 13)
    #expect(run.passed == [0] + (105...113))
    run.mix(0, 1)
    run.mix(1, 14)
    #expect(run.passed == [0] + (105...114), "what it stood in for comes too late")
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
