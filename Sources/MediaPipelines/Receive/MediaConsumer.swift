public import GStreamerKit
import MediaCore
import Synchronization

/// Somebody who gets what comes out of a hub, from when it was added until `stop`.
public final class MediaConsumer: Sendable {
  private let gate = Locked(FrameGate())
  private let isStopped = Atomic(false)
  /// On their way to the hub.
  private let missed = Atomic(0)
  private let fullness: @Sendable () -> Double
  private let onFailure: @Sendable (any Error) -> Void
  private let onRetry: @Sendable () -> Void
  private let onBuffer: @Sendable (MediaBuffer) -> Void
  private let onStop = Locked<(@Sendable () -> Void)?>(nil)

  /// - Parameters:
  ///   - fullness: how much of the consumer's room is taken, 0…1; asked for each frame.
  ///   - onFailure: called when nothing comes any more, on any thread.
  ///   - onRetry: called when there is something again, or may be, on any thread.
  ///   - onBuffer: called on a media thread, in order; to return at once.
  public init(
    fullness: @escaping @Sendable () -> Double = { 0 }, onFailure: @escaping @Sendable (any Error) -> Void,
    onRetry: @escaping @Sendable () -> Void = {}, onBuffer: @escaping @Sendable (MediaBuffer) -> Void
  ) {
    self.fullness = fullness
    self.onFailure = onFailure
    self.onRetry = onRetry
    self.onBuffer = onBuffer
  }

  /// Frames that it lost because it, or the decoder in front of it, was too slow.
  public var dropped: Int { gate.withLock { $0.dropped } + missed.load(ordering: .relaxed) }

  func noteDrop() { missed.wrappingAdd(1, ordering: .relaxed) }

  /// Whether it wants nothing any more.
  public var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

  /// No call begins after this has returned; one that has begun may be at its end.
  public func stop() {
    guard isStopped.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged else {
      return
    }
    let job = onStop.withLock { job in
      defer { job = nil }
      return job
    }
    job?()
  }

  /// Runs `job` when the consumer stops; at once if it has.
  public func onStop(_ job: @escaping @Sendable () -> Void) {
    onStop.withLock { $0 = job }
    guard isStopped.load(ordering: .acquiring) else { return }
    let late = onStop.withLock { job in
      defer { job = nil }
      return job
    }
    late?()
  }

  func take(_ media: MediaBuffer) {
    if !hasStopped { onBuffer(media) }
  }

  func takeInTurn(_ media: MediaBuffer) -> FrameGate.Verdict {
    let (isKeyframe, fullness) = (!media.isDelta, fullness())
    let verdict = gate.withLock { $0.offer(isKeyframe: isKeyframe, fullness: fullness) }
    if verdict == .pass { take(media) }
    return verdict
  }

  func fail(_ error: any Error) {
    if !hasStopped { onFailure(error) }
  }

  func retry() {
    if !hasStopped { onRetry() }
  }
}
