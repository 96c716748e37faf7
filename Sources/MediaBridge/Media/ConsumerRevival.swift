import GStreamerKit
import MediaCore
import MediaPipelines

/// Has a consumer served again whose output, or pipeline, has failed: after a pause, and again while that does not help. A
/// decoder of the hardware may have been lost for a moment.
final class ConsumerRevival: Sendable {
  private struct State {
    weak var consumer: MediaConsumer?
    var pause = RetryPause()
  }
  private let state = Locked(State())
  private let attempt: @Sendable () throws(LiveKitError) -> Void
  private let onFailure: @Sendable (LiveKitError) -> Void

  /// - Parameters:
  ///   - onFailure: told each time why nothing comes for now.
  ///   - attempt: has the consumer served anew.
  init(
    onFailure: @escaping @Sendable (LiveKitError) -> Void,
    attempt: @escaping @Sendable () throws(LiveKitError) -> Void
  ) { (self.onFailure, self.attempt) = (onFailure, attempt) }

  /// For whom it is.
  func begin(_ consumer: MediaConsumer) { state.withLock { $0.consumer = consumer } }

  /// Nothing comes any more.
  func failed(_ error: LiveKitError) {
    onFailure(
      LiveKitError(
        error.code, "\(error.message); it is tried again", fault: error.fault, underlying: error.underlying))
    let pause = state.withLock { $0.pause.next(at: .now) }
    Task {
      try? await Task.sleep(for: pause)
      retry()
    }
  }

  private func retry() {
    guard state.withLock({ $0.consumer })?.hasStopped == false else { return }
    do throws(LiveKitError) { try attempt() } catch { failed(error) }
  }
}
