import GStreamerKit
import MediaCore
import MediaPipelines

/// Has a consumer served again whose output, or pipeline, has failed: after a pause, and again while that does not help. A
/// decoder of the hardware may have been lost for a moment.
final class ConsumerRevival: Sendable {
  private enum Course {
    /// It is being tried. What fails meanwhile is told once it is known that it began.
    case trying(failure: LiveKitError?)
    case served
    /// Nothing comes before it is tried after the failure of that number.
    case waiting(Int)
  }

  private struct State {
    weak var consumer: MediaConsumer?
    var course = Course.trying(failure: nil)
    var pause = RetryPause()
    var failures = 0

    /// - Returns: nil where nobody is there any more.
    mutating func wait() -> Wait? {
      guard let consumer else { return nil }
      failures += 1
      course = .waiting(failures)
      return Wait(consumer: consumer, number: failures, pause: pause.next(at: .now))
    }
  }

  private struct Wait: Sendable {
    let consumer: MediaConsumer
    let number: Int
    let pause: Duration
  }

  private let state = Locked(State())
  private let onFailure: @Sendable (LiveKitError, MediaConsumer) -> Void
  private let onBegin: @Sendable () -> Void
  private let attempt: @Sendable (MediaConsumer) throws(LiveKitError) -> Void
  private let sleep: @Sendable (Duration) async -> Void

  /// - Parameters:
  ///   - onFailure: told why nothing comes for now, once before each further try.
  ///   - onBegin: called behind each try that did not fail, and ahead of `onFailure` for what fails then.
  ///   - attempt: has the consumer served anew.
  ///   - sleep: waits for so long.
  init(
    onFailure: @escaping @Sendable (LiveKitError, MediaConsumer) -> Void, onBegin: @escaping @Sendable () -> Void,
    attempt: @escaping @Sendable (MediaConsumer) throws(LiveKitError) -> Void,
    sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  ) {
    (self.onFailure, self.onBegin, self.attempt, self.sleep) = (onFailure, onBegin, attempt, sleep)
  }

  /// Has it served for the first time, by `job`.
  /// - Throws: why it cannot be; it is not tried again.
  func begin(_ consumer: MediaConsumer, _ job: () throws(LiveKitError) -> Void) throws(LiveKitError) {
    state.withLock { $0.consumer = consumer }
    try job()
    onBegin()
    settle()
  }

  /// Nothing comes any more. One failure may be several errors.
  func failed(_ error: LiveKitError) {
    let wait: Wait? = state.withLock { state in
      switch state.course {
      case .waiting: return nil
      case .trying(let earlier):
        state.course = .trying(failure: earlier ?? error)
        return nil
      case .served: return state.wait()
      }
    }
    if let wait { begin(wait, for: error) }
  }

  /// There is something again: who waits is served now.
  func hurry() { retry(after: nil) }

  private func begin(_ wait: Wait, for error: LiveKitError) {
    let message = "\(error.message); it is tried again"
    onFailure(
      LiveKitError(error.code, message, fault: error.fault, underlying: error.underlying), wait.consumer)
    Task { [self, number = wait.number, pause = wait.pause] in
      await sleep(pause)
      retry(after: number)
    }
  }

  /// - Parameter number: of the failure; nil for any.
  private func retry(after number: Int?) {
    let waiting: MediaConsumer? = state.withLock { state in
      guard case .waiting(let failure) = state.course, number == nil || number == failure,
        let consumer = state.consumer, !consumer.hasStopped
      else { return nil }
      state.course = .trying(failure: nil)
      return consumer
    }
    guard let waiting else { return }
    do throws(LiveKitError) { try attempt(waiting) } catch { return settle(error) }
    onBegin()
    settle()
  }

  /// The try is over.
  /// - Parameter error: why it failed.
  private func settle(_ error: LiveKitError? = nil) {
    let (failure, wait): (LiveKitError?, Wait?) = state.withLock { state in
      guard case .trying(let held) = state.course else { return (nil, nil) }
      guard let failure = error ?? held else {
        state.course = .served
        return (nil, nil)
      }
      return (failure, state.wait())
    }
    if let failure, let wait { begin(wait, for: failure) }
  }
}
