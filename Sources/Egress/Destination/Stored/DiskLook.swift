import Dispatch
import MediaCore

/// Looks at what lies on a disk, or does something there, on a thread of its own. A disk that does not answer, as one of a server that is away,
/// holds up whoever asks first for a moment, and then nobody until it is back.
final class DiskLook<Seen: Sendable>: Sendable {
  private struct State: Sendable {
    var seen: Seen
    /// Looks that are under way or wait for one that is.
    var open = 0
    /// When the one that is under way began.
    var begin = MediaTime.now
  }

  private let patience: Duration
  private let look: @Sendable () -> Seen
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "mediabridge.disk")

  /// - Parameters:
  ///   - seen: where the disk has not answered yet.
  ///   - patience: how long somebody waits for it.
  ///   - look: called by one thread at a time.
  init(_ seen: Seen, patience: Duration = .milliseconds(500), _ look: @escaping @Sendable () -> Seen) {
    (self.patience, self.look) = (patience, look)
    state = Locked(State(seen: seen))
  }

  /// What is there now; where the disk does not answer, what was there when it did last.
  var newest: Seen {
    if answers {
      perform { [state, look] in
        let seen = look()
        state.withLock { $0.seen = seen }
      }
    }
    return state.withLock { $0.seen }
  }

  /// Whether nothing is under way for longer than somebody waits.
  private var answers: Bool { state.withLock { $0.open == 0 || MediaTime.now - $0.begin < patience } }

  /// Does something there, in its turn. Returns when it is done, or the disk does not answer.
  /// - Returns: whether it is done.
  @discardableResult
  func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
    let isAwaited = answers
    state.withLock { state in
      if state.open == 0 { state.begin = .now }
      state.open += 1
    }
    let isDone = DispatchSemaphore(value: 0)
    queue.async { [state] in
      job()
      state.withLock { ($0.open, $0.begin) = ($0.open - 1, .now) }
      isDone.signal()
    }
    return isAwaited && isDone.wait(timeout: .now() + .nanoseconds(Int(patience.nanoseconds))) == .success
  }
}
