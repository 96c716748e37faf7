import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// What connects a destination that is no file with its server: it notices when that goes away, refuses or takes nothing any
/// more, and has another pipeline made until it is back. Encoders and other destinations go on meanwhile.
final class StreamLink: Sendable {
  private struct State {
    var retry: StreamRetry
    /// Counts pipelines: what an earlier one says is past.
    var turn = 0
    var stage: OutputStage?
    var error: LiveKitError?
    /// Why it was lost, the last time.
    var reason: LiveKitError?
    var losses = 0
  }

  private static let pace = Duration.milliseconds(100)

  private let onOver: @Sendable (LiveKitError) -> Void
  private let state: Locked<State>
  private let watch = Watch()

  /// - Parameters:
  ///   - limit: how long the server may be away.
  ///   - onOver: told why it is tried no more, on any thread.
  init(limit: Duration, onOver: @escaping @Sendable (LiveKitError) -> Void) {
    self.onOver = onOver
    state = Locked(State(retry: StreamRetry(limit: limit, at: .now)))
  }

  /// How it goes.
  var status: StreamStatus {
    state.withLock {
      StreamStatus(
        isReconnecting: $0.retry.awaySince != nil, losses: $0.losses, away: $0.retry.away(at: .now), reason: $0.reason,
        wasTaken: $0.retry.wasTaken)
    }
  }

  // MARK: Pipelines

  /// Call it ahead of making a pipeline.
  /// - Returns: what `broke` knows it by.
  func nextTurn() -> Int {
    state.withLock { state in
      state.retry.opened(at: .now)
      (state.turn, state.stage, state.error) = (state.turn + 1, nil, nil)
      return state.turn
    }
  }

  /// Watches that pipeline.
  func follow(_ stage: OutputStage, turn: Int) { state.withLock { if $0.turn == turn { $0.stage = stage } } }

  /// A pipeline cannot go on; from any thread.
  func broke(_ turn: Int, _ error: LiveKitError) {
    state.withLock { state in
      guard state.turn == turn else { return }
      state.error = state.error ?? error
      state.stage?.abandon()
    }
  }

  // MARK: Watching

  /// Looks after it until `stop()`.
  /// - Parameters:
  ///   - isIdle: whether there is nothing to send yet.
  ///   - reopen: makes another pipeline.
  func start(
    isIdle: @escaping @Sendable () -> Bool, reopen: @escaping @Sendable () throws(LiveKitError) -> Void
  ) {
    watch.start { [weak self] in self?.look(isIdle(), reopen) }
  }

  /// - Returns: when to look again; nil where there is nothing to look after any more.
  private func look(_ isIdle: Bool, _ reopen: () throws(LiveKitError) -> Void) -> Duration? {
    let (step, stage, turn) = step(isIdle)
    switch step {
    case .wait: break
    case .lost, .rest: leave(stage)
    case .reopen: do { try reopen() } catch { broke(turn + 1, error) }
    case .over:
      leave(stage)
      onOver(state.withLock { Self.final($0.error ?? Self.stalled, $0.retry) })
    }
    return step == .over ? nil : Self.pace
  }

  private func step(_ isIdle: Bool) -> (StreamRetry.Step, OutputStage?, turn: Int) {
    let (stage, turn) = state.withLock { ($0.stage, $0.turn) }
    let (taken, waiting) = stage?.load ?? (0, 0)
    return state.withLock { state in
      guard state.turn == turn else { return (.wait, nil, turn) }
      let wasAway = state.retry.awaySince != nil
      let step = state.retry.look(
        taken: taken, waiting: waiting, isBroken: state.error != nil,
        isReached: !(state.error?.underlying is ConnectionFailure), isIdle: isIdle, at: .now)
      if step == .lost, !wasAway { (state.reason, state.losses) = (state.error ?? Self.stalled, state.losses + 1) }
      // Nothing is missing, so that there is no reason to tell.
      if step == .rest { (state.turn, state.stage, state.error) = (turn + 1, nil, nil) }
      return (step, stage, turn)
    }
  }

  /// Hangs up, since a server may refuse another connection while it has this one.
  private func leave(_ stage: OutputStage?) {
    guard let stage else { return }
    stage.abandon()
    Task { await stage.discard() }
  }

  /// Nothing is opened any more when this returns.
  func stop() async { await watch.stop() }

  private static let stalled = LiveKitError(.output, "the server takes nothing any more")

  private static func final(_ error: LiveKitError, _ retry: StreamRetry) -> LiveKitError {
    let words = retry.wasTaken ? loss(retry.limit) : advice(for: error)
    return LiveKitError(
      error.code, "\(error.message); \(words)", fault: error.fault, underlying: error.underlying ?? error)
  }

  private static func loss(_ limit: Duration) -> String {
    guard limit > .zero else { return "it was lost, and is not to be connected anew" }
    return "it was lost and did not come back within \(limit.components.seconds) s"
  }

  /// Where nothing was taken.
  private static func advice(for error: LiveKitError) -> String {
    if error.underlying is ConnectionFailure { return "check the address" }
    // A certificate that is not trusted says what to do.
    if ElementPackage.advice(forError: error.message) != nil { return "nothing was taken of it" }
    return "nothing was taken of it: check the address, and the key where it has one"
  }

  /// Why a stream that ends now is not complete; nil where it is.
  var incompleteness: LiveKitError? {
    state.withLock { state in
      guard state.retry.awaySince != nil || state.error != nil, let reason = state.error ?? state.reason else {
        return nil
      }
      return LiveKitError(
        .output, "\(reason.message); its server was not back when it ended", fault: reason.fault, underlying: reason)
    }
  }
}
