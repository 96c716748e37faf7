import Dispatch
import Foundation
import MediaCore

/// Waits for Ctrl-C, SIGTERM or the end of the terminal, so that a command can end what it does in order. A second one ends
/// the process, unless it comes with the first: `timeout` sends one to the process and one to its group, and so do many
/// that begin a program.
///
/// `@unchecked Sendable`: the sources are only kept alive after `init`; the state guards itself.
final class Interruption: @unchecked Sendable {
  /// Signals within this time are one.
  private static let together = DispatchTimeInterval.seconds(1)

  private let queue = DispatchQueue(label: "mediabridge.signals")
  private let sources: [any DispatchSourceSignal]
  private let state = InterruptionState()

  /// - Parameter signals: that it waits for; without any it only comes by `end`. Whoever has the end of the terminal
  ///   ignored, as `nohup` does, wants it to go on.
  init(signals: [Int32] = [SIGINT, SIGTERM, SIGHUP]) {
    let outlivesTerminal = Self.outlivesTerminal
    sources = signals.filter { $0 != SIGHUP || !outlivesTerminal }.map { [queue, state] number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        state.came()
        queue.asyncAfter(deadline: .now() + Self.together) { signal(number, SIG_DFL) }
      }
      source.resume()
      return source
    }
  }

  /// Whether whoever began this process had it ignore the end of the terminal. Asked before the first one that is made
  /// ignores that, too.
  static let outlivesTerminal: Bool = {
    let handler = signal(SIGHUP, SIG_IGN)
    signal(SIGHUP, handler)
    return Interruption.address(handler) == Interruption.address(SIG_IGN)
  }()

  /// Functions of C cannot be compared.
  private static func address(_ handler: sighandler_t?) -> Int { unsafeBitCast(handler, to: Int.self) }

  /// Whether it has come.
  var hasCome: Bool { state.hasCome }

  /// Does what a signal does.
  func end() { state.came() }

  /// True when a signal came by the end of `pause`; returns as soon as one does, and when its task is cancelled.
  func came(within pause: Duration) async -> Bool {
    let answer = Answer()
    state.add(answer)
    defer { state.remove(answer) }
    // One timer and no polling: whoever waits for an hour sleeps for an hour.
    let (seconds, attoseconds) = pause.components
    queue.asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) / 1e18) { answer.settle(false) }
    return await withTaskCancellationHandler {
      await answer.value()
    } onCancel: {
      answer.settle(false)
    }
  }

  /// Returns at the first signal, or when `limit` is over, or when its task is cancelled.
  func wait(atMost limit: Duration?) async {
    let deadline = limit.map { ContinuousClock.now + $0 }
    while !Task.isCancelled, deadline.map({ ContinuousClock.now < $0 }) ?? true {
      let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(3600)
      if await came(within: min(rest, .seconds(3600))) { return }
    }
  }
}

/// Whether a signal has come, and who waits for one.
private final class InterruptionState: Sendable {
  private struct State {
    var hasCome = false
    var waiting: [Answer] = []
  }
  private let state = Locked(State())

  var hasCome: Bool { state.withLock { $0.hasCome } }

  func add(_ answer: Answer) {
    let hasCome = state.withLock { state in
      state.waiting.append(answer)
      return state.hasCome
    }
    if hasCome { answer.settle(true) }
  }

  func remove(_ answer: Answer) { state.withLock { $0.waiting.removeAll { $0 === answer } } }

  func came() {
    let waiting = state.withLock { state in
      state.hasCome = true
      return state.waiting
    }
    for answer in waiting { answer.settle(true) }
  }
}

/// An answer that one task waits for; the first one given counts.
private final class Answer: Sendable {
  private struct State {
    var result: Bool?
    var continuation: CheckedContinuation<Bool, Never>?
  }
  private let state = Locked(State())

  func settle(_ result: Bool) {
    let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.result == nil else { return nil }
      state.result = result
      return state.continuation
    }
    continuation?.resume(returning: result)
  }

  func value() async -> Bool {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state in
        state.continuation = continuation
        return state.result
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
