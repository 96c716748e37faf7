import MediaCore
import MediaPipelines
import Testing

@Suite struct StreamLagTests {
  private let frame = Duration.milliseconds(40)

  /// How far a stream of 25 frames a second is behind after each of them.
  private func lags(_ spent: [Duration]) -> [Duration] {
    var lag = StreamLag()
    return spent.enumerated().map { number, spent in
      lag.advance(to: MediaTime(nanoseconds: Int64(number) * frame.nanoseconds))
      lag.add(spent)
      return lag.current
    }
  }

  @Test func workThatTakesLessTimeThanFramesLastHoldsNothingUp() {
    #expect(lags(Array(repeating: .milliseconds(30), count: 100)).allSatisfy { $0 == .milliseconds(30) })
  }

  @Test func workThatTakesLongerAddsUp() {
    #expect(lags(Array(repeating: .milliseconds(50), count: 100)).last == .milliseconds(50 + 99 * 10))
  }

  @Test func oneLongFrameIsMadeUpForByTheNext() {
    let all = lags([.milliseconds(500)] + Array(repeating: .milliseconds(20), count: 30))
    #expect(all[0] == .milliseconds(500) && all[10] == .milliseconds(300) && all[30] == .milliseconds(20))
  }

  /// Without times nothing is known of how long frames last.
  @Test func aStreamWithoutTimesIsNeverBehind() {
    var lag = StreamLag()
    for _ in 0..<100 {
      lag.advance(to: nil)
      #expect(lag.current == .zero)
      lag.add(.seconds(1))
    }
  }
}
