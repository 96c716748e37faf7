import Testing

@testable import MediaBridge

/// Who waits for a result.
@Suite struct OutcomeTests {
  private let late = LiveKitError(.timedOut, "late")
  private let cancelled = LiveKitError(.cancelled, "given up")

  /// As whoever waits for a first frame, or for the server's answer. The others wait on.
  @Test func oneThatIsCancelledWaitsNoLonger() async throws {
    let outcome = Outcome<Int, LiveKitError>()
    let waiting = Task { [late, cancelled] in
      await outcome.result(within: .seconds(600), else: late, orCancelled: cancelled)
    }
    let other = Task { [late] in await outcome.result(within: .seconds(600), else: late) }
    waiting.cancel()
    other.cancel()
    #expect(await waiting.value == .failure(cancelled))
    outcome.settle(.success(1))
    #expect(await other.value == .success(1))
    #expect(try await outcome.value(orCancelled: cancelled) == 1)
  }
}
