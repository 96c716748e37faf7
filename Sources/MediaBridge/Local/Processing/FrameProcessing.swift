import Dispatch
import MediaCore

/// The processor of a local track at work, on a queue of its own: capture never waits for it.
final class FrameProcessing: Sendable {
  typealias HandOn = @Sendable (Result<CapturedMedia, LiveKitError>) -> Void
  private typealias Waiting = (captured: CapturedMedia, handOn: HandOn)

  private struct State {
    var processor: (any VideoProcessor)?
    /// From the first processor on until nothing is captured: without one, too, so that no frame overtakes another.
    var isOnQueue = false
    var turns = RendererTurns<Waiting>(limit: 2)
    /// Of earlier turns.
    var dropped = 0
    var hasFailed = false

    /// - Returns: what waited, to be let go of outside of the lock.
    mutating func clear() -> [Waiting] {
      dropped += turns.dropped
      isOnQueue = processor != nil
      hasFailed = false
      defer { turns = RendererTurns(limit: 2) }
      return turns.close()
    }
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "mediabridge.processor")

  var processor: (any VideoProcessor)? { state.withLock { $0.processor } }

  /// Frames that the processor was too slow for.
  var dropped: Int { state.withLock { $0.dropped + $0.turns.dropped } }

  /// - Returns: the one before, which is to be ended.
  func set(_ processor: (any VideoProcessor)?) -> (any VideoProcessor)? {
    state.withLock { state in
      guard state.processor !== processor else { return nil }
      defer { state.processor = processor }
      (state.isOnQueue, state.hasFailed) = (state.isOnQueue || processor != nil, false)
      return state.processor
    }
  }

  /// Called on a media thread; returns at once.
  /// - Parameter handOn: called on the queue, in order, with what has become of it.
  /// - Returns: false where the caller is to hand it on as it is.
  func take(_ captured: CapturedMedia, _ handOn: @escaping HandOn) -> Bool {
    let turn = state.withLock { state in state.isOnQueue ? state.turns.take((captured, handOn), at: .now) : nil }
    guard let turn else { return false }
    if turn.begins { queue.async { self.work() } }
    return true
  }

  /// Nothing is captured any more: once this returns nothing is processed, and the processor has let go of what it holds.
  func pause() async {
    _ = state.withLock { $0.clear() }
    if let processor { await end(processor) }
  }

  /// Has a processor let go of what it holds once it is not in a call.
  func end(_ processor: any VideoProcessor) async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    await processor.pause()
  }

  // MARK: On the queue

  private func work() {
    while let next = state.withLock({ $0.turns.next() }) { process(next.captured, next.handOn) }
  }

  private func process(_ captured: CapturedMedia, _ handOn: HandOn) {
    guard let processor else { return handOn(.success(captured)) }
    // Whatever time the frame has that comes of it: those of a track go up, also where some frames are left as they are.
    guard let processed = VideoFrame(captured).flatMap(processor.process(frame:)) else {
      return tell(processor, handOn)
    }
    handOn(.success(CapturedMedia(media: processed.buffer.media, time: captured.time)))
  }

  /// That it has failed, once: a frame that is not processed is never handed on, since it may not be meant to be seen.
  private func tell(_ processor: any VideoProcessor, _ handOn: HandOn) {
    guard let failure = processor.failure, state.set(\.hasFailed, to: true) else { return }
    handOn(.failure(failure))
  }
}
