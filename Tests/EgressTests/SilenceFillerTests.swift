import MediaCore
import Testing

@testable import Egress

/// Files without times, such as Ogg, are as long as all that is handed out.
@Suite struct SilenceFillerTests {
  /// A file of packets of 20 ms.
  private struct Scene {
    var filler = SilenceFiller()
    /// Of all that was handed out.
    var sum = Duration.zero
    /// Whether no two begin at one time.
    var areApart = true
    /// By how much less was handed out than the timeline is long.
    var missing: Duration { filler.end - sum }

    /// - Returns: how many steps of silence are in front of it.
    mutating func write(at start: Duration) throws -> Int {
      let gap = filler.gap(before: start)
      let silence = try #require(gap)
      let starts = silence + [filler.wrote(start, SilenceFiller.step)]
      for (one, next) in zip(starts, starts.dropFirst()) where next - one < .milliseconds(2) { areApart = false }
      sum += SilenceFiller.step * starts.count
      return silence.count
    }
  }

  @Test func smallLossesDoNotAddUp() throws {
    var scene = Scene()
    var fillings: [Int] = []
    for packet in 0..<180_000 where packet % 50 != 49 {
      let silence = try scene.write(at: SilenceFiller.step * packet)
      if packet % 50 == 0 { fillings.append(silence) }
    }
    #expect(fillings == [0] + [Int](repeating: 1, count: 3599))
    #expect(scene.missing == .zero && scene.filler.total == scene.sum && scene.areApart)
  }

  /// A packet every 400 ms, and a sender's clock that is a little fast or slow.
  @Test(arguments: [-20, -1, 1, 20]) func pausesOfSpeechDoNotAddUp(_ drift: Int) throws {
    var scene = Scene()
    var (least, most) = (Duration.zero, Duration.zero)
    for packet in 0..<9000 {
      _ = try scene.write(at: Duration.milliseconds(400 * packet) + .microseconds(drift * packet))
      (least, most) = (min(least, scene.missing), max(most, scene.missing))
    }
    #expect(least > .milliseconds(-60) && most < .milliseconds(60) && scene.areApart)
  }

  @Test func whatIsLessThanAStepWaitsForTheNextHole() throws {
    var scene = Scene()
    let silence = try [0, 30, 60].map { try scene.write(at: .milliseconds($0)) }
    #expect(silence == [0, 0, 1])
    #expect(scene.missing == .zero && scene.areApart)
  }

  /// What is missing since long ago does not come all at once.
  @Test func aSmallHoleTakesLittle() throws {
    var scene = Scene()
    for packet in 0..<100 { _ = try scene.write(at: .milliseconds(25 * packet)) }
    #expect(scene.missing > .milliseconds(400))
    let silence = try scene.write(at: scene.filler.end + .milliseconds(20))
    #expect(silence == 2 && scene.areApart)
  }
}
