import MediaCore

/// Lets into a branch what it is quick enough for.
///
/// A branch that needs longer for frames than they last, such as a decoder on a busy machine, would have ever more of
/// them wait. So it is a consumer like any other: one that is full loses all up to a keyframe.
public final class BranchLoad: Sendable {
  /// How much video may wait for it. What is kept for its beginning, which comes at once, is half as much.
  public static let limit = Duration.seconds(2)
  /// The same of audio, which is small, and of which no loss is made good by a keyframe.
  public static let audioLimit = Duration.seconds(20)

  private let limit: Duration
  private let gate = Locked(FrameGate(isOpen: true))
  private let onDrop: @Sendable () -> Void
  private let onKeyframeNeeded: @Sendable () -> Void

  /// - Parameters:
  ///   - isVideo: what it is a branch for.
  ///   - onDrop: told of each frame that is not let in, on the streaming thread.
  ///   - onKeyframeNeeded: called there, too.
  public init(
    isVideo: Bool = true, onDrop: @escaping @Sendable () -> Void, onKeyframeNeeded: @escaping @Sendable () -> Void
  ) {
    limit = isVideo ? Self.limit : Self.audioLimit
    self.onDrop = onDrop
    self.onKeyframeNeeded = onKeyframeNeeded
  }

  /// Whether a frame is let in. Called by one thread at a time.
  /// - Parameter queued: how long what waits for the branch lasts.
  public func admits(isDelta: Bool, queued: Duration) -> Bool {
    let verdict = gate.withLock { $0.offer(isKeyframe: !isDelta, fullness: queued / limit) }
    guard verdict != .pass else { return true }
    onDrop()
    if verdict == .dropAndAsk { onKeyframeNeeded() }
    return false
  }
}
