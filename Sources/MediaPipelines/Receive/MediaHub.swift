public import GStreamerKit
import MediaCore

/// Hands what comes out of one output of a pipeline to everybody who wants it, in the order in which they came and where
/// it comes out. Nobody waits for anybody: a consumer returns at once, and says how full it is.
public final class MediaHub: Sendable {
  private let consumers = Locked<[MediaConsumer]>([])
  private let isEncoded: Bool
  private let onKeyframeNeeded: @Sendable () -> Void

  /// - Parameters:
  ///   - isEncoded: whether what comes out needs what came before it. Then a consumer that is full loses all up to the
  ///     next keyframe; of what is decoded each sees to its own queue, and drops the oldest there.
  ///   - onKeyframeNeeded: called on a media thread.
  public init(isEncoded: Bool, onKeyframeNeeded: @escaping @Sendable () -> Void) {
    self.isEncoded = isEncoded
    self.onKeyframeNeeded = onKeyframeNeeded
  }

  /// Whether nobody wants what comes out.
  public var isEmpty: Bool { consumers.withLock { $0.isEmpty } }

  /// From the next buffer on; on any thread.
  public func add(_ consumer: MediaConsumer) { consumers.withLock { $0.append(consumer) } }

  /// A call that is under way may still end after this.
  public func remove(_ consumer: MediaConsumer) {
    consumers.withLock { consumers in consumers.removeAll { $0 === consumer } }
  }

  /// Called by one thread at a time.
  public func deliver(_ media: MediaBuffer) {
    for consumer in consumers.withLock({ $0 }) {
      guard isEncoded else {
        consumer.take(media)
        continue
      }
      if consumer.takeInTurn(media) == .dropAndAsk { onKeyframeNeeded() }
    }
  }

  /// Tells all that nothing comes any more.
  public func fail(_ error: any Error) {
    for consumer in consumers.withLock({ $0 }) { consumer.fail(error) }
  }
}
