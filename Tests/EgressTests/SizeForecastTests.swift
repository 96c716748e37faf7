import MediaCore
import Testing

@testable import Egress

/// When what is written will be too large.
@Suite struct SizeForecastTests {
  private var forecast = SizeForecast(limit: 1_000_000)

  private mutating func isReached(_ seconds: Double, _ written: Int64) -> Bool {
    forecast.isReached(after: .seconds(seconds), written: written)
  }

  @Test mutating func itIsToldAMomentAhead() {
    #expect(!isReached(5, 760_000), "152 kB a second, with which it is 988 kB")
    #expect(isReached(5.5, 836_000))
  }

  @Test mutating func theBeginningIsNoMeasure() {
    #expect(!isReached(0, 0))
    #expect(!isReached(0.1, 390_000))
    #expect(isReached(0.2, 410_000))
  }

  /// A sender begins with little and sends twice as much for each second that goes well.
  @Test mutating func aBitrateThatRisesCounts() {
    for tenth in 0...40 { #expect(!isReached(Double(tenth) / 10, Int64(tenth) * 5000)) }
    #expect(!isReached(5, 400_000))
    #expect(!isReached(6, 600_000))
    #expect(isReached(7, 800_000), "114 kB a second from the beginning, and 200 now")
  }

  /// A file of fragments grows once a second.
  @Test mutating func stepsAreNoRise() {
    let ends = (0...120).first { isReached(Double($0) / 10, Int64($0 / 10) * 100_000) }
    #expect(ends.map { $0 >= 80 } == true)
  }

  @Test mutating func aNewPartBeginsAnew() {
    for second in 0...6 { _ = isReached(Double(second), Int64(second) * 140_000) }
    #expect(!isReached(0.2, 3000))
    #expect(!isReached(2.2, 280_000))
  }
}
