import Testing

@testable import RTP

@Suite("The clock of a track by its reports")
struct ReportClockTests {
  private static func milliseconds(_ value: Double) -> Int64 { Int64(value * 1_000_000) }

  /// As of libwebrtc's audio in RED: each report is late by chance, and a server repeats it until the next one.
  @Test(arguments: 1..<20) func whatIsLateByChanceDoesNotMoveIt(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var clock = ReportClock()
    var found: [Int64] = []
    for _ in 0..<40 {
      let error = Double.random(in: 0..<16.7, using: &random)
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        _ = clock.note(Self.milliseconds(error + Double.random(in: 0..<0.02, using: &random)))
        found.append(clock.offset ?? 0)
      }
    }
    let late = found.dropFirst(30).map { Double($0) / 1_000_000 }
    #expect(late.max() ?? 0 < 7 && late.reduce(0, +) / Double(late.count) < 3, "\(late)")
  }

  @Test func aReportThatIsRepeatedCountsOnce() {
    var clock = ReportClock()
    _ = clock.note(0)
    for _ in 0..<100 { _ = clock.note(Self.milliseconds(12)) }
    #expect(clock.offset == 0)
  }

  /// 100 parts in a million, with a report every second.
  @Test(arguments: [-0.1, 0.1]) func itFollowsAClockThatDrifts(drift: Double) {
    var clock = ReportClock()
    for second in 0..<600 {
      _ = clock.note(Self.milliseconds(drift * Double(second)))
      #expect(abs(Double(clock.offset ?? 0) / 1_000_000 - drift * Double(second)) < 1.5)
    }
  }

  @Test func aClockThatIsSetIsToldOnce() {
    var clock = ReportClock()
    var findings: [ReportClock.Finding] = []
    for _ in 0..<5 { findings.append(clock.note(0)) }
    for _ in 0..<5 { findings.append(clock.note(Self.milliseconds(3000))) }
    #expect(findings.filter { $0 == .clockSet }.count == 1 && clock.offset == Self.milliseconds(3000))
  }

  /// What a server repeats of the time before is no news, and what the sender itself says then is.
  @Test func aReportThatIsRepeatedBehindASetClockIsIgnored() {
    var clock = ReportClock()
    for _ in 0..<5 { _ = clock.note(Self.milliseconds(7)) }
    clock.forget()
    for _ in 0..<5 { _ = clock.note(Self.milliseconds(7.05)) }
    #expect(clock.offset == nil)
    _ = clock.note(Self.milliseconds(2007))
    #expect(clock.offset == Self.milliseconds(2007))
    clock.forget()
    for _ in 0..<20 { _ = clock.note(Self.milliseconds(2007)) }
    #expect(clock.offset == Self.milliseconds(2007), "nobody repeats it so often")
  }

  /// A sender says it in the pause, too, by chance a little otherwise.
  @Test func whatIsRepeatedBehindAPauseIsIgnored() {
    var clock = ReportClock()
    for _ in 0..<5 { _ = clock.note(Self.milliseconds(7)) }
    clock.forget(pause: Self.milliseconds(1000))
    for sample in [7, 7.4, 2, 24] { _ = clock.note(Self.milliseconds(sample)) }
    #expect(clock.offset == nil)
    _ = clock.note(Self.milliseconds(1009))
    #expect(clock.offset == Self.milliseconds(1009))
  }

  /// What has been said since the first one was stale.
  @Test func whatIsRepeatedBehindTwoPausesIsIgnored() {
    var clock = ReportClock()
    _ = clock.note(0)
    for pause in [4000.0, 1200] {
      clock.forget(pause: Self.milliseconds(pause))
      _ = clock.note(0)
      #expect(clock.offset == nil)
    }
    _ = clock.note(Self.milliseconds(4000))
    #expect(clock.offset == nil, "of the time between both")
    _ = clock.note(Self.milliseconds(5200))
    #expect(clock.offset == Self.milliseconds(5200))
  }
}
