import Testing

@testable import MediaBridge

@Suite struct ReconnectDelaysTests {
  private func delays(_ options: ConnectOptions, chance: Double) -> [Duration] {
    var delays = ReconnectDelays(options, chance: { chance })
    return Array(sequence(state: ()) { _ in delays.next() })
  }

  @Test func theyGrowWithTheSquareUpToALimit() {
    #expect(
      delays(ConnectOptions(reconnectAttempts: 8), chance: 0)
        == [0, 0.3, 1.2, 2.7, 4.8, 7, 7, 7].map { .milliseconds(Int(($0 * 1000).rounded())) })
  }

  /// As many as commands have: errors that come at once take no time, and a router takes minutes.
  @Test func fiftyAttemptsGoOnForFiveMinutes() {
    let all = delays(ConnectOptions(reconnectAttempts: 50), chance: 0)
    #expect(all.reduce(Duration.zero, +) > .seconds(300))
  }

  @Test func chanceAddsAtMostASecondAndNothingToTheFirst() {
    #expect(
      delays(ConnectOptions(reconnectAttempts: 4), chance: 1)
        == [0, 0.3, 2.2, 3.7].map { .milliseconds(Int(($0 * 1000).rounded())) })
    let quick = ConnectOptions(reconnectAttempts: 3, reconnectAttemptDelay: 0.1)
    #expect(delays(quick, chance: 1) == [0, 0.1, 0.8].map { .milliseconds(Int(($0 * 1000).rounded())) })
  }

  @Test func whatIsLostAgainIsTriedAsOftenButLater() {
    var delays = ReconnectDelays(ConnectOptions(reconnectAttempts: 4), from: 3, chance: { 0 })
    #expect(
      (0..<5).map { _ in delays.next() } == [.milliseconds(2700), .milliseconds(4800), .seconds(7), .seconds(7), nil])
  }

  @Test func noAttemptsAreNoDelays() {
    for attempts in [0, -1] { #expect(delays(ConnectOptions(reconnectAttempts: attempts), chance: 1).isEmpty) }
  }

  @Test func senselessTimesAreNone() {
    let options = ConnectOptions(reconnectAttempts: 3, reconnectAttemptDelay: -1, reconnectMaxDelay: -1)
    #expect(delays(options, chance: 1) == [.zero, .zero, .zero])
    for odd in [Double.infinity, .nan, .greatestFiniteMagnitude] {
      let options = ConnectOptions(reconnectAttempts: 3, reconnectAttemptDelay: odd, reconnectMaxDelay: odd)
      #expect(delays(options, chance: 0).allSatisfy { $0 <= .seconds(3600) })
    }
  }
}
