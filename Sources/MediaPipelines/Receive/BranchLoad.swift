public import MediaCore

/// Lets into a branch what it is quick enough for.
///
/// What hangs on a tee works on the thread of its stream, since one of its own would have to be woken for each frame. A
/// branch that needs longer for frames than they last, such as a decoder on a busy machine, would hold up the others, and
/// packets would pile up without end. So it is a consumer like any other: one that is full loses all up to a keyframe.
public final class BranchLoad: Sendable {
  /// How far the stream may fall behind for it.
  public static let limit = Duration.seconds(1)

  private struct State {
    var lag = StreamLag()
    var gate = FrameGate(isOpen: true)

    mutating func offer(isDelta: Bool, at time: MediaTime?) -> FrameGate.Verdict {
      lag.advance(to: time)
      return gate.offer(isKeyframe: !isDelta, fullness: lag.current / BranchLoad.limit)
    }
  }
  private let state = Locked(State())
  private let onDrop: @Sendable () -> Void
  private let onKeyframeNeeded: @Sendable () -> Void

  /// - Parameters:
  ///   - onDrop: told of each frame that is not let in, on the streaming thread.
  ///   - onKeyframeNeeded: called there, too.
  public init(onDrop: @escaping @Sendable () -> Void, onKeyframeNeeded: @escaping @Sendable () -> Void) {
    self.onDrop = onDrop
    self.onKeyframeNeeded = onKeyframeNeeded
  }

  /// Calls `pass` for what is let in. Called by one thread at a time.
  public func admit(isDelta: Bool, time: MediaTime?, _ pass: () -> Void) {
    let verdict = state.withLock { $0.offer(isDelta: isDelta, at: time) }
    guard verdict == .pass else {
      onDrop()
      return verdict == .dropAndAsk ? onKeyframeNeeded() : ()
    }
    let begin = MediaTime.now
    pass()
    let spent = MediaTime.now - begin
    state.withLock { $0.lag.add(spent) }
  }
}
