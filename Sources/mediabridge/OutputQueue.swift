import Dispatch
import Glibc
import MediaCore

/// What waits to be written to standard output or standard error, in its order. Whoever tells something may carry media,
/// and waits for no reader: a thread of its own does. What is too much for a reader is left out, and counted.
final class OutputQueue: Sendable {
  /// Bytes that may wait, and beyond which nothing is taken that soon comes anew.
  private static let limit = 1 << 20
  private static let passingLimit = 16_384
  /// How long a reader that is waited for at the end may read nothing.
  private static let patience = DispatchTimeInterval.seconds(2)

  private struct State {
    var bytes = 0
    var lines = 0
    /// Lines that were not taken, since that was told last.
    var leftOut = 0
    var readerHasGone = false
  }

  private let queue = DispatchQueue(label: "mediabridge.output")
  private let state = Locked(State())
  private let onLoss: @Sendable (Int) -> Void

  /// - Parameter onLoss: told on the thread that writes how many lines were left out, once what waited is written.
  init(onLoss: @escaping @Sendable (Int) -> Void) { self.onLoss = onLoss }

  /// Whether the newest write found that nobody can read it any more.
  var readerHasGone: Bool { state.withLock { $0.readerHasGone } }

  /// Returns at once.
  /// - Parameter isPassing: whether something newer soon takes its place; it gives way first, and is not counted.
  /// - Returns: whether it is taken.
  @discardableResult
  func write(_ text: String, to descriptor: Int32, isPassing: Bool = false) -> Bool {
    let (bytes, lines) = (text.utf8.count, isPassing ? 0 : 1)
    let isTaken = state.withLock { state in
      guard state.bytes < (isPassing ? Self.passingLimit : Self.limit) else {
        state.leftOut += lines
        return false
      }
      state.bytes += bytes
      state.lines += lines
      return true
    }
    guard isTaken else { return false }
    queue.async { [self] in
      let error = Self.put(text, to: descriptor)
      noteWritten(bytes, lines, error)
    }
    return true
  }

  /// Writes what was asked for behind all that waits, and returns when its reader has it, whenever that is.
  /// - Returns: why not all of it was written, as `errno` says it.
  func deliver(_ text: String, to descriptor: Int32) -> Int32? { queue.sync { Self.put(text, to: descriptor) } }

  /// Returns when all is written, or when its reader has read nothing for a while.
  /// - Returns: how many lines are not written.
  func finish() -> Int {
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    var before = waiting.bytes
    while done.wait(timeout: .now() + Self.patience) == .timedOut {
      let now = waiting
      guard now.bytes < before else { return now.lines }
      before = now.bytes
    }
    return 0
  }

  private var waiting: (bytes: Int, lines: Int) {
    state.withLock { (bytes: $0.bytes, lines: $0.lines + $0.leftOut) }
  }

  /// What cannot be written is nobody's concern: what it tells of goes on.
  private func noteWritten(_ bytes: Int, _ lines: Int, _ error: Int32?) {
    let leftOut = state.withLock { state in
      state.bytes -= bytes
      state.lines -= lines
      state.readerHasGone = error == EPIPE
      guard state.bytes == 0 else { return 0 }
      defer { state.leftOut = 0 }
      return state.leftOut
    }
    if leftOut > 0 { onLoss(leftOut) }
  }

  /// Written whole, so that a reader behind a pipe has each line when it is said.
  private static func put(_ text: String, to descriptor: Int32) -> Int32? {
    RawDescriptor.put(Array(text.utf8)[...], to: descriptor)
  }
}
