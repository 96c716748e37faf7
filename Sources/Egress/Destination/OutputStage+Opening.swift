import Logging
import MediaBridge
import MediaCore
import MediaPipelines

// A pipe that nobody reads, a disk that hangs or a server's name that is not found keeps an element from returning.
// Whoever opens a stage waits for a moment, as most are open by then; others are opened behind everybody's back.
extension OutputStage {
  /// How long somebody waits.
  private static let patience = Duration.seconds(1)
  /// When a person is told of it, and when it is given up.
  private static let limits = (news: Duration.seconds(5), all: Duration.seconds(30))

  static let unopened = LiveKitError(
    .output,
    "it could not be opened: nobody reads the pipe, the disk or the server does not answer, or its name is not found")

  /// Opens it. What comes meanwhile waits.
  /// - Returns: why that cannot be, where it is known at once.
  func open(_ hold: StageHold) -> LiveKitError? {
    let started = state.withLock { state in
      state.open(hold)
      return state.pipeline
    }
    guard let started else { return nil }
    let opening = Opening<Void> { [destination] () throws(LiveKitError) in
      do throws(PipelineFailure) { try started.start() } catch { throw LiveKitError(error).about(destination) }
    }
    let outcome = opening.outcome(within: Self.patience) { [weak self] outcome in
      if case .failure(let error) = outcome { hold.onFailure(error) }
      self?.opened(hold)
    }
    switch outcome {
    case .success?: opened(hold)
    case .failure(let error)?: return error
    case nil: limitOpening(hold)
    }
    return nil
  }

  /// What waited goes in.
  func opened(_ hold: StageHold) {
    hold.onBegun(self)
    // Under the lock, so that what comes meanwhile goes behind it; queueing never waits.
    state.withLock { state in
      for held in state.begin() { Self.write(held, into: state.pipeline) }
    }
  }

  private func limitOpening(_ hold: StageHold) {
    Task { [weak self, destination] in
      try? await Task.sleep(for: Self.limits.news)
      guard self?.isOpening == true else { return }
      Loggers().output.warning(
        "an output is not open yet; what comes for it waits, and is dropped where it is too much",
        metadata: ["output": "\(destination.shown)"])
      try? await Task.sleep(for: Self.limits.all - Self.limits.news)
      if self?.isOpening == true { hold.onFailure(Self.unopened.about(destination)) }
    }
  }
}
