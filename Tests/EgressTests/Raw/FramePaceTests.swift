import MediaCore
import Testing

@testable import Egress

/// Frames at an even rate.
@Suite struct FramePaceTests {
  @Test func framesOfTheRateFillEachPlaceOnceWhateverTheirJitter() {
    var pace = FramePace(rate: 25)
    let jitter = [0, 7, -9, 20, -4, 12, 0]
    for (number, late) in jitter.enumerated() {
      let taken = pace.take(.milliseconds(40 * number + late))
      #expect(taken.place == number && taken.repeats.isEmpty)
    }
  }

  @Test func moreFramesAreLeftOut() {
    var pace = FramePace(rate: 10)
    let places = (0..<31).compactMap { pace.take(.microseconds($0 * 33_333)).place }
    #expect(places == Array(0...10))
  }

  @Test func whatIsMissingIsTheFrameBefore() {
    var pace = FramePace(rate: 10)
    #expect(pace.take(.zero).place == 0)
    let taken = pace.take(.milliseconds(350))
    #expect(taken.repeats == 1..<3 && taken.place == 3)
  }

  @Test func timeThatPassesIsFilledAndNotTwice() {
    var pace = FramePace(rate: 10)
    _ = pace.take(.zero)
    #expect(pace.fill(upTo: .milliseconds(520)) == 1..<5)
    #expect(pace.fill(upTo: .milliseconds(200)).isEmpty)
    #expect(pace.take(.milliseconds(300)).place == nil)
    #expect(pace.take(.milliseconds(700)).repeats == 5..<7)
  }

  /// As after a stall of its sender: what is repeated meanwhile must not stand still.
  @Test func whatComesWhenItsPlaceIsFilledIsLate() {
    var pace = FramePace(rate: 10)
    _ = pace.take(.zero)
    #expect(pace.fill(upTo: .seconds(1)) == 1..<10)
    let late = [100, 200, 250, 200].map { pace.take(.milliseconds($0)) }
    #expect(late.allSatisfy { $0.repeats.isEmpty && $0.place == nil })
    #expect(late.map { $0.isLate } == [true, true, false, false], "those are more than the rate")
    let more = [1000, 1030].map { pace.take(.milliseconds($0)) }
    #expect(more.map { $0.place } == [10, nil] && !more.contains { $0.isLate })
  }

  @Test func placesStayExactForHours() {
    let pace = FramePace(rate: 30)
    #expect(pace.time(of: 30 * 36_000) == .seconds(36_000))
    #expect(pace.time(of: 1) == .nanoseconds(33_333_333))
  }
}
