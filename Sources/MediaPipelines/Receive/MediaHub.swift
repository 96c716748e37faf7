public import GStreamerKit
import MediaCore

/// Hands what comes out of one output of a pipeline to everybody who wants it, in the order in which they came and where
/// it comes out. Nobody waits for anybody: a consumer returns at once, and says how full it is.
public final class MediaHub: Sendable {
  private struct State {
    var consumers: [MediaConsumer] = []
    /// Those of them that have got nothing yet.
    var newcomers: [MediaConsumer] = []
    /// With what a newcomer begins; nil where each frame can be shown by itself.
    var group: KeptGroup<MediaBuffer>?

    mutating func remove(_ consumer: MediaConsumer) {
      consumers.removeAll { $0 === consumer }
      newcomers.removeAll { $0 === consumer }
      if consumers.isEmpty { group?.clear() }
    }

    /// - Returns: who gets what was kept before `media`.
    mutating func keep(_ media: MediaBuffer) -> (newcomers: [MediaConsumer], kept: [MediaBuffer]) {
      guard group != nil, !consumers.isEmpty else { return ([], []) }
      let now = MediaTime.now
      defer {
        newcomers = []
        group?.add(media, isKeyframe: !media.isDelta, at: now)
      }
      return newcomers.isEmpty ? ([], []) : (newcomers, group?.frames(at: now) ?? [])
    }
  }
  private let state: Locked<State>
  private let isEncoded: Bool
  private let onKeyframeNeeded: @Sendable () -> Void

  /// - Parameters:
  ///   - dependence: how what comes out needs what came before it; nil for what is decoded. Of what is encoded a consumer
  ///     that is full loses all up to the next keyframe, and one that comes later begins with the kept group; of what is
  ///     decoded each sees to its own queue, and drops the oldest there.
  ///   - onKeyframeNeeded: called on a media thread.
  public init(
    _ dependence: KeptGroup<MediaBuffer>.Dependence?, onKeyframeNeeded: @escaping @Sendable () -> Void
  ) {
    state = Locked(State(group: dependence.map { KeptGroup($0) }))
    isEncoded = dependence != nil
    self.onKeyframeNeeded = onKeyframeNeeded
  }

  /// Whether nobody wants what comes out.
  public var isEmpty: Bool { state.withLock { $0.consumers.isEmpty } }

  /// From the next buffer on, before which it gets what is kept; on any thread.
  public func add(_ consumer: MediaConsumer) {
    state.withLock { state in
      state.consumers.append(consumer)
      if state.group != nil { state.newcomers.append(consumer) }
    }
  }

  /// A call that is under way may still end after this.
  public func remove(_ consumer: MediaConsumer) { state.withLock { $0.remove(consumer) } }

  /// Called by one thread at a time.
  public func deliver(_ media: MediaBuffer) {
    let (consumers, late) = state.withLock { ($0.consumers, $0.keep(media)) }
    for newcomer in late.newcomers {
      for frame in late.kept { hand(frame, to: newcomer) }
    }
    for consumer in consumers { hand(media, to: consumer) }
  }

  private func hand(_ media: MediaBuffer, to consumer: MediaConsumer) {
    guard isEncoded else { return consumer.take(media) }
    if consumer.takeInTurn(media) == .dropAndAsk { onKeyframeNeeded() }
  }

  /// Tells all that one frame of what they would have got was dropped on its way here.
  public func noteDrop() {
    for consumer in state.withLock({ $0.consumers }) { consumer.noteDrop() }
  }

  /// Tells all that nothing comes any more.
  public func fail(_ error: any Error) {
    for consumer in state.withLock({ $0.consumers }) { consumer.fail(error) }
  }

  /// Tells all that there is something again.
  public func retry() {
    for consumer in state.withLock({ $0.consumers }) { consumer.retry() }
  }
}
