import Dispatch
import Foundation
import MediaBridge
import MediaCore

/// Does once what may not return for long, on a thread of its own: to open a pipe that nobody reads or a file on a disk
/// that does not answer, or to ask for a name.
final class Opening<Opened: Sendable>: Sendable {
  typealias Outcome = Result<Opened, LiveKitError>

  private struct State: Sendable {
    var outcome: Outcome?
    var onLate: (@Sendable (Outcome) -> Void)?
  }

  private let state: Locked<State>
  private let done: DispatchSemaphore

  /// It begins at once.
  init(_ open: @escaping @Sendable () throws(LiveKitError) -> Opened) {
    let (state, done) = (Locked(State()), DispatchSemaphore(value: 0))
    (self.state, self.done) = (state, done)
    DispatchQueue(label: "mediabridge.opening").async {
      let outcome = Outcome { () throws(LiveKitError) in try open() }
      let onLate = state.withLock { state in
        state.outcome = outcome
        return state.onLate
      }
      done.signal()
      onLate?(outcome)
    }
  }

  /// Whether it is known what came of it.
  var isDone: Bool { state.withLock { $0.outcome != nil } }

  /// Waits for it. Call it once.
  /// - Parameters:
  ///   - patience: how long.
  ///   - onLate: told what came of it where that takes longer, on its thread.
  /// - Returns: nil where it takes longer.
  func outcome(within patience: Duration, onLate: @escaping @Sendable (Outcome) -> Void) -> Outcome? {
    _ = done.wait(timeout: .now() + .nanoseconds(Int(patience.nanoseconds)))
    return state.withLock { state in
      if state.outcome == nil { state.onLate = onLate }
      return state.outcome
    }
  }
}

extension FileClaim {
  /// How long a disk may take before somebody is told that it does not answer: one that has to spin up first takes 10 s.
  static let usualPatience = Duration.seconds(20)
  /// Folders of which an answer is still waited for: whoever asks again is told at once.
  private static let silent = Locked(Set<String>())

  /// Takes a file as `init` does. Where its disk does not answer, it goes as soon as it comes.
  static func taken(_ file: String) throws(LiveKitError) -> FileClaim {
    try asking(file) { () throws(LiveKitError) in try FileClaim(file) }
  }

  /// Does something where a file lies, on a thread of its own.
  /// - Throws: also that the disk does not answer.
  static func asking<Answer: Sendable>(
    _ file: String, within patience: Duration = FileClaim.usualPatience,
    _ ask: @escaping @Sendable () throws(LiveKitError) -> Answer
  ) throws(LiveKitError) -> Answer {
    let folder = (file as NSString).deletingLastPathComponent
    guard !Self.silent.withLock({ $0.contains(folder) }) else { throw noAnswer(file) }
    let opening = Opening(ask)
    let heard: @Sendable () -> Void = { Self.silent.withLock { _ = $0.remove(folder) } }
    if let outcome = opening.outcome(within: patience, onLate: { _ in heard() }) { return try outcome.get() }
    Self.silent.withLock { _ = $0.insert(folder) }
    // It may have come in between.
    if opening.isDone { heard() }
    throw noAnswer(file)
  }

  private static func noAnswer(_ file: String) -> LiveKitError {
    LiveKitError(.output, "\(file): the disk does not answer; try again once it does, or choose another folder")
  }
}
