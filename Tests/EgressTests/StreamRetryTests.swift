import MediaCore
import Testing

@testable import Egress

/// When a live server that is lost is tried again.
@Suite struct StreamRetryTests {
  /// Looks at a stream as its pipelines go.
  private struct Scene {
    var retry: StreamRetry
    var now = MediaTime(nanoseconds: 0)
    var taken = 0

    init(limit: Duration = .seconds(30)) { retry = StreamRetry(limit: limit, at: MediaTime(nanoseconds: 0)) }

    mutating func look(
      after seconds: Double = 0.1, takes: Int = 0, waiting: Int = 0, isBroken: Bool = false, isReached: Bool = true,
      isIdle: Bool = false
    ) -> StreamRetry.Step {
      now = now + .milliseconds(Int(seconds * 1000))
      taken += takes
      return retry.look(
        taken: taken, waiting: waiting, isBroken: isBroken, isReached: isReached, isIdle: isIdle, at: now)
    }

    mutating func reopen() {
      retry.opened(at: now)
      taken = 0
    }

    /// From one that works to one whose server has just gone.
    mutating func lose() -> StreamRetry.Step {
      _ = look(takes: 20)
      _ = look(after: 1, takes: 20)
      return look(isBroken: true)
    }
  }

  @Test func whatWasNeverTakenIsOverAtOnce() {
    var refused = Scene()
    #expect(refused.look(takes: 3, waiting: 5) == .wait)
    #expect(refused.look(waiting: 9, isBroken: true) == .over)
    var silent = Scene()
    #expect(silent.look(takes: 3, waiting: 5) == .wait)
    #expect(silent.look(after: 9, waiting: 50) == .wait)
    #expect(silent.look(after: 1, waiting: 60) == .over)
  }

  /// As one that takes the stream before it looks at the key.
  @Test func whatIsRefusedSoonIsOverAtOnce() {
    var scene = Scene()
    #expect(scene.look(takes: 20) == .wait)
    #expect(scene.look(after: 0.9, takes: 20) == .wait && !scene.retry.wasTaken)
    #expect(scene.look(isBroken: true) == .over)
  }

  /// As on who waits in a room in which nobody is yet.
  @Test func whoHangsUpWhileThereIsNothingToSendIsBackOnceThereIs() {
    var scene = Scene()
    for _ in 0..<100 {
      #expect(scene.look(isIdle: true) == .wait)
    }
    #expect(scene.look(isBroken: true, isIdle: true) == .rest)
    #expect(scene.look(after: 3600, isIdle: true) == .wait && scene.retry.awaySince == nil)
    #expect(scene.look() == .reopen && scene.look() == .reopen, "until there is another pipeline")
    scene.reopen()
    #expect(scene.look(waiting: 5) == .wait && scene.look(isBroken: true) == .lost, "its address is right")
    while scene.look() == .wait {}
    #expect(scene.look() == .reopen)
  }

  @Test func whatIsRefusedBeforeThereIsAnythingToSendIsOverAtOnce() {
    var refused = Scene()
    #expect(refused.look(after: 2, isIdle: true) == .wait)
    #expect(refused.look(isBroken: true, isIdle: true) == .over)
    var unreached = Scene()
    #expect(unreached.look(after: 9, isIdle: true) == .wait)
    #expect(unreached.look(isBroken: true, isReached: false, isIdle: true) == .over)
  }

  /// SRT says so when something is sent, and in the words of a server that nobody has reached.
  @Test func aConnectionThatEndedUnseenIsMadeAnewOnce() {
    var scene = Scene()
    #expect(scene.look(after: 60, isIdle: true) == .wait)
    #expect(scene.look(takes: 2, isBroken: true, isReached: false) == .rest && scene.look() == .reopen)
    scene.reopen()
    #expect(scene.look(takes: 2, isBroken: true, isReached: false) == .over)
  }

  @Test func whoTakesALittleAndHangsUpIsTriedMoreSeldomAndIsOver() {
    var scene = Scene()
    #expect(scene.lose() == .lost)
    let since = scene.now
    var pauses: [Duration] = []
    var step = StreamRetry.Step.lost
    while step != .over, pauses.count < 100 {
      let lost = scene.now
      while scene.look() != .reopen {}
      pauses.append(scene.now - lost)
      scene.reopen()
      #expect(scene.look(takes: 20) == .wait && scene.retry.awaySince == nil, "it is shown as back")
      step = scene.look(isBroken: true)
    }
    #expect(pauses.prefix(5) == [.milliseconds(100), .milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
    #expect(scene.now - since >= .seconds(30) && scene.now - since < .seconds(31))
  }

  @Test func itIsTriedAtOnceAndThenMoreSeldom() {
    var scene = Scene()
    #expect(scene.lose() == .lost)
    #expect(scene.look(after: 0) == .reopen)
    for pause in [0.5, 1, 2, 4, 4] {
      scene.reopen()
      #expect(scene.look(isBroken: true) == .lost)
      #expect(scene.look(after: pause - 0.1) == .wait)
      #expect(scene.look(after: 0.1) == .reopen)
    }
  }

  @Test func itIsOverWhenItWasAwayTooLong() {
    var scene = Scene()
    #expect(scene.lose() == .lost)
    let since = scene.now
    var step = StreamRetry.Step.lost
    while step != .over {
      while scene.look() != .reopen {}
      scene.reopen()
      step = scene.look(isBroken: true)
    }
    #expect(scene.now - since >= .seconds(30) && scene.now - since < .seconds(31))
  }

  @Test func whoIsBackMayBeLostAgain() {
    var scene = Scene()
    for _ in 0..<3 {
      #expect(scene.lose() == .lost && scene.retry.awaySince != nil)
      #expect(scene.look(after: 0) == .reopen)
      scene.reopen()
      #expect(scene.look(takes: 3) == .wait && scene.retry.awaySince != nil, "elements hold as much")
      #expect(scene.look(after: 20, takes: 20) == .wait && scene.retry.awaySince == nil)
      let away = scene.retry.away(at: scene.now)
      #expect(scene.look(after: 5, takes: 20) == .wait && scene.retry.away(at: scene.now) == away)
    }
  }

  /// Who wants no reconnection does not want the stream to end where nothing is wrong, or for a moment of nothing.
  @Test(arguments: [0.0, 0.3]) func whatIsNotConnectedAnewEndsOnlyOnceItIsLost(_ limit: Double) {
    var scene = Scene(limit: .milliseconds(Int(limit * 1000)))
    for step in 0..<50 {
      #expect(scene.look(takes: 4) == .wait, "\(step)")
    }
    #expect(scene.look(after: 3, waiting: 40) == .wait)
    #expect(scene.look(takes: 44) == .wait && scene.retry.wasTaken)
    guard limit == 0 else { return }
    #expect(scene.look(isBroken: true) == .over)
  }

  @Test func oneThatMayNotBeAwayForLongIsLostLater() {
    var scene = Scene(limit: .seconds(2))
    _ = scene.look(takes: 20)
    #expect(scene.look(after: 1, takes: 20) == .wait && scene.look(after: 4.9, waiting: 40) == .wait)
    #expect(scene.look(after: 0.1, waiting: 40) == .lost)
  }

  @Test func oneThatTakesNothingAnyMoreIsLost() {
    var scene = Scene()
    _ = scene.look(takes: 20)
    #expect(scene.look(after: 60, waiting: 0) == .wait, "nothing comes")
    #expect(scene.look(after: 9.9, waiting: 40) == .wait)
    #expect(scene.look(after: 0, takes: 1, waiting: 39) == .wait)
    #expect(scene.look(after: 9.9, waiting: 40) == .wait)
    #expect(scene.look(after: 0.1, waiting: 40) == .lost)
  }
}
