import MediaCore

/// How far a destination is with its end.
final class DestinationEnding: Sendable {
  private struct State {
    var moment: Duration?
    var task: Task<Void, Never>?
    var isOver = false
  }
  private let state = Locked(State())
  private let bell = Bell()

  /// Of the job, when it got nothing any more; nil while it is to get all.
  var moment: Duration? { state.withLock(\.moment) }
  /// Whether it is completed and closed, or about to be.
  var isFinishing: Bool { state.withLock { $0.task != nil } }
  var isOver: Bool { state.withLock(\.isOver) }

  /// It gets nothing after that moment.
  func set(_ moment: Duration) { state.withLock { $0.moment = moment } }

  /// It gets nothing any more, unless that was so before.
  func leave(at moment: Duration) { state.withLock { $0.moment = $0.moment ?? moment } }

  /// Returns once `ring` is called, or at the deadline.
  func wait(until deadline: MediaTime) async { await bell.wait(until: deadline) }
  func ring() { bell.ring() }

  /// Has `close` run, once; whoever comes later waits for the same end.
  func finish(_ close: @escaping @Sendable () async -> Void) async {
    let task = state.withLock { state in
      let task =
        state.task
        ?? Task {
          await close()
          self.state.withLock { $0.isOver = true }
        }
      state.task = task
      return task
    }
    ring()
    await task.value
  }
}
