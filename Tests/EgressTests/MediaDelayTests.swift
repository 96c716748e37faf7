import MediaCore
import Testing

@testable import Egress

/// How long what comes late is waited for.
@Suite struct MediaDelayTests {
  private func usual(_ delays: Int...) -> Duration {
    var delay = MediaDelay()
    for milliseconds in delays { delay.note(.milliseconds(milliseconds), at: .now) }
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

  /// - Parameter arrivals: of media without delay.
  /// - Returns: until when what is before the end may come after that.
  private func limit(_ arrivals: [Int], end: Int) -> Int {
    var delay = MediaDelay()
    let start = MediaTime.now
    for milliseconds in arrivals { delay.note(.zero, at: start + .milliseconds(milliseconds)) }
    return Int((delay.limit(for: start + .milliseconds(end)) - start).nanoseconds / 1_000_000)
  }

  @Test func whatComesSteadilyIsSoonKnownToHaveEnded() {
    #expect(limit(Array(stride(from: 0, through: 2000, by: 40)), end: 2030) == 2300)
    #expect(limit(Array(stride(from: 0, through: 2000, by: 40)), end: 5000) == 5000, "it is muted")
  }

  @Test func whatStaysOutForAWhileIsWaitedForAsLongAgain() {
    #expect(limit([0, 40, 80, 480, 520, 560], end: 600) == 1360)
    #expect(limit([0, 1000, 2000, 3000], end: 3100) == 4500, "what is rare is not waited for without end")
  }

  @Test func aLoadThatIsOverIsForgotten() {
    let quiet = Array(stride(from: 1000, through: 12_000, by: 40))
    #expect(limit([0, 800] + quiet, end: 12_000) == 12_300)
  }
}
