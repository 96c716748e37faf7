import Testing

@testable import Egress

/// How long what comes late is waited for.
@Suite struct MediaDelayTests {
  private func usual(_ delays: Int...) -> Duration {
    var delay = MediaDelay()
    for milliseconds in delays { delay.note(.milliseconds(milliseconds)) }
    return delay.usual
  }

  @Test func itIsThatOfTheNewest() {
    #expect(usual() == .zero)
    #expect(usual(900, 800, 700) == .milliseconds(700))
    #expect(usual(100, 1800, 2100) == .milliseconds(1800))
  }

  @Test func aSingleOneThatIsLateDoesNotCount() { #expect(usual(50, 60, 4000) == .milliseconds(60)) }

  @Test func nobodyIsWaitedForWithoutEnd() { #expect(usual(60_000, 60_000) == .seconds(5)) }

  @Test func whatComesEarlyIsNotLate() { #expect(usual(-300, -300) == .zero) }
}
