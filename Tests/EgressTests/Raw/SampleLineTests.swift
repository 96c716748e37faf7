import Foundation
import Testing

@testable import Egress

/// Samples without a gap.
@Suite struct SampleLineTests {
  private func block(_ value: Float, _ count: Int = 960) -> [Float] { [Float](repeating: value, count: count) }

  @Test func blocksThatFollowStayAsTheyAre() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    var written: [Float] = []
    for number in 0..<100 {
      let samples = (0..<960).map { Float(number * 960 + $0) }
      // Times that wander by less than a millisecond.
      line.write(samples, of: "a", at: .microseconds(20_000 * number + (number % 3) * 300))
      written += samples
    }
    #expect(line.take(upTo: line.ready) == written)
  }

  @Test func whatIsMissingIsSilence() {
    var line = SampleLine(rate: 48_000, channels: 2)
    line.add("a")
    line.write(block(0.5, 2 * 960), of: "a", at: .zero)
    line.write(block(0.25, 2 * 960), of: "a", at: .milliseconds(60))
    let taken = line.take(upTo: line.ready)
    #expect(taken == block(0.5, 1920) + block(0, 3840) + block(0.25, 1920))
  }

  @Test func whatComesTooLateIsLeftOut() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    line.write(block(0.5), of: "a", at: .zero)
    #expect(line.take(upTo: 1440) == block(0.5) + block(0, 480))
    line.write(block(0.25), of: "a", at: .milliseconds(20))
    #expect(line.take(upTo: 1920) == block(0.25, 480) && line.late == 480)
    line.write(block(0.75), of: "a", at: .seconds(-1))
    #expect(line.take(upTo: 2880) == block(0))
  }

  @Test func whatWasBeforeTheBeginningIsNotLate() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    line.write(block(0.5), of: "a", at: .zero)
    #expect(line.take(upTo: 960) == block(0.5))
    line.add("b")
    line.write(block(0.25, 1920), of: "b", at: .milliseconds(-20))
    #expect(line.late == 960, "the other half is")
  }

  /// As what a decoder makes up for a packet that was not lost after all.
  @Test func whatComesTwiceIsLeftOut() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    for (value, start) in [(0.5, 0), (0.25, 20), (0.75, 20), (0.125, 30), (0.5, 40)] as [(Float, Int)] {
      line.write(block(value), of: "a", at: .milliseconds(start))
    }
    #expect(line.take(upTo: line.ready) == block(0.5) + block(0.25) + block(0.125, 480) + block(0.5, 480))
  }

  @Test func voicesAreAddedUp() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    line.add("b")
    line.write(block(0.5), of: "a", at: .zero)
    #expect(line.ready == 0, "the other one is waited for")
    line.write(block(0.25), of: "b", at: .milliseconds(10))
    #expect(line.ready == 960)
    #expect(line.take(upTo: 960) == block(0.5, 480) + block(0.75, 480))
    line.remove("a")
    #expect(line.take(upTo: line.ready) == block(0.25, 480))
  }

  /// As at the end, when those who are behind are waited for no more.
  @Test func whatWasHeardOfAnyIsThere() {
    var line = SampleLine(rate: 48_000, channels: 2)
    line.add("a")
    line.add("b")
    line.write(block(0.5, 2 * 960), of: "a", at: .zero)
    #expect(line.ready == 0 && line.heard == 960)
    line.remove("a")
    line.remove("b")
    #expect(line.take(upTo: line.heard) == block(0.5, 2 * 960))
    #expect(line.heard == 960)
  }

  /// Two hundred millionths are more than clocks differ by.
  @Test(arguments: [1.0002, 0.9998]) func anotherClockIsFollowed(ratio: Double) {
    var placer = SamplePlacer(rate: 48_000)
    for number in 0..<9000 {
      let start = Double(number) * 0.02 * ratio
      let place = placer.place(.seconds(start), 960)
      #expect(abs(place.count - 960) <= 3 && place.skipped == 0)
      #expect(abs(Double(place.position) / 48_000 - start) < 0.002)
    }
  }

  @Test func whatIsSaidToBeFarAwayNeedsNoMemory() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    line.write(block(0.5), of: "a", at: .seconds(1_000_000))
    #expect(line.ready == 0)
    #expect(line.take(upTo: 960) == block(0))
  }

  /// Else what follows would come too late, and there were silence for as long.
  @Test func whatIsSaidToBeFarAheadMovesNothing() {
    var line = SampleLine(rate: 48_000, channels: 1)
    line.add("a")
    line.write(block(0.5), of: "a", at: .zero)
    line.write(block(0.75), of: "a", at: .seconds(4))
    line.write(block(0.25), of: "a", at: .milliseconds(20))
    #expect(line.take(upTo: line.ready) == block(0.5) + block(0.25))
    // Silence is taken while nothing comes, and then it goes on.
    #expect(line.take(upTo: 96_000) == block(0, 96_000 - 1920))
    line.write(block(0.75), of: "a", at: .seconds(4))
    #expect(line.ready == 4 * 48_000 + 960)
    #expect(line.take(upTo: line.ready) == block(0, 2 * 48_000) + block(0.75))
  }
}
