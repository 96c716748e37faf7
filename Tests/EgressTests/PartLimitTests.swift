import Egress
import MediaCore
import Testing

@testable import Egress

/// When a file's next part is to begin.
@Suite struct PartLimitTests {
  private func due(_ limit: PartLimit, begin: Int = 0, now: Double, written: Int64 = 0) -> Duration? {
    limit.due(begin: .seconds(begin), now: .seconds(now), written: written)
  }

  @Test func aPartIsOpenedASecondAheadOfItsBeginning() {
    let limit = PartLimit(duration: .seconds(10))
    #expect(due(limit, now: 8.9) == nil)
    #expect(due(limit, now: 9) == .seconds(10))
    #expect(due(limit, now: 30) == .seconds(10), "it is late, and begins at once")
    #expect(due(limit, begin: 20, now: 28) == nil && due(limit, begin: 20, now: 29.5) == .seconds(30))
  }

  @Test func aPartEndsASecondOfMediaBeforeItIsTooLarge() {
    let limit = PartLimit(bytes: 1_000_000)
    #expect(due(limit, now: 5, written: 800_000) == nil, "160 kB a second, with which it is 960 kB")
    #expect(due(limit, now: 5.5, written: 880_000) == .seconds(5.5))
    #expect(due(limit, begin: 10, now: 10, written: 0) == nil)
    #expect(due(limit, now: 0.1, written: 400_000) == nil, "the beginning is no measure of what a second has")
  }

  @Test func aJobEndsByTheSameMeasure() {
    let limit = PartLimit(bytes: 1_000_000)
    #expect(!limit.isReached(after: .seconds(5), written: 800_000))
    #expect(limit.isReached(after: .seconds(5.5), written: 880_000))
    #expect(!limit.isReached(after: .zero, written: 0) && !PartLimit().isReached(after: .seconds(1), written: .max))
  }

  @Test func theFirstOfBothCounts() {
    let limit = PartLimit(duration: .seconds(10), bytes: 1_000_000)
    #expect(due(limit, now: 4, written: 2_000_000) == .seconds(4))
    #expect(due(limit, now: 9.5, written: 1000) == .seconds(10))
  }
}
