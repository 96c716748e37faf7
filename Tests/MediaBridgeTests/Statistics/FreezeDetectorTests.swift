import MediaCore
import Testing

@testable import MediaBridge

@Suite struct FreezeDetectorTests {
  /// Shows frames with these many milliseconds between them.
  private func shown(_ intervals: [Int]) -> FreezeDetector {
    var detector = FreezeDetector()
    var time = MediaTime(nanoseconds: 7_000_000_000)
    detector.show(at: time)
    for interval in intervals {
      time = time + .milliseconds(interval)
      detector.show(at: time)
    }
    return detector
  }

  private let steady = [Int](repeating: 40, count: 40)

  /// At 40 ms the average and 150 ms more is what decides, at 100 ms three times the average.
  @Test(arguments: [(40, 189, false), (40, 190, true), (100, 299, false), (100, 300, true)])
  func threshold(usual: Int, longest: Int, isFreeze: Bool) {
    let detector = shown([Int](repeating: usual, count: 40) + [longest] + [usual, usual])
    #expect(detector.freezeCount == (isFreeze ? 1 : 0))
    #expect(detector.totalFreezes == (isFreeze ? .milliseconds(longest) : .zero))
  }

  @Test func eachFreezeCountsWithItsLength() {
    let detector = shown(steady + [500] + steady + [1000] + steady)
    #expect(detector.freezeCount == 2 && detector.totalFreezes == .milliseconds(1500))
    #expect(detector.pauseCount == 0)
  }

  @Test func theAverageIsOfTheLastThirty() {
    // After thirty frames at 10 a second their pace is the usual one, and after 29 nearly.
    #expect(shown(steady + [Int](repeating: 100, count: 30) + [299]).freezeCount == 0)
    #expect(shown([Int](repeating: 100, count: 40) + [Int](repeating: 40, count: 30) + [190]).freezeCount == 1)
    #expect(shown([Int](repeating: 100, count: 40) + [Int](repeating: 40, count: 29) + [190]).freezeCount == 0)
  }

  @Test func withoutAnAverageNothingIsAFreeze() {
    #expect(shown([40, 40, 40, 40, 2000]).freezeCount == 0)
    #expect(shown([40, 40, 40, 40, 40, 2000]).freezeCount == 1)
  }

  @Test func beyondFiveSecondsItIsAPause() {
    let detector = shown(steady + [5000] + steady + [5001, 40, 190])
    #expect(detector.freezeCount == 2 && detector.totalFreezes == .milliseconds(5190))
    #expect(detector.pauseCount == 1 && detector.totalPauses == .milliseconds(5001))
  }

  @Test func anInterruptionIsNone() {
    var detector = shown(steady)
    detector.interrupt()
    detector.show(at: MediaTime(nanoseconds: 60_000_000_000))
    #expect(detector.freezeCount == 0 && detector.pauseCount == 0)
    detector.show(at: MediaTime(nanoseconds: 60_190_000_000))
    #expect(detector.freezeCount == 1)
  }
}
