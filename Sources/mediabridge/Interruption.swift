import Dispatch
import Foundation

/// Waits for Ctrl-C or SIGTERM, so that a command can end what it does in order. A second one ends the process.
///
/// `@unchecked Sendable`: the sources are only kept alive after `init`.
final class Interruption: @unchecked Sendable {
  private let sources: [any DispatchSourceSignal]
  private let outcome: InterruptionState

  init() {
    let outcome = InterruptionState()
    self.outcome = outcome
    let queue = DispatchQueue(label: "mediabridge.signals")
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        signal(number, SIG_DFL)
        Task { await outcome.came() }
      }
      source.resume()
      return source
    }
  }

  /// True when a signal came by the end of `pause`; returns as soon as one does.
  func came(within pause: Duration) async -> Bool {
    let deadline = ContinuousClock.now + pause
    while ContinuousClock.now < deadline {
      if await outcome.hasCome { return true }
      let rest = deadline - ContinuousClock.now
      try? await Task.sleep(for: min(max(rest, .zero), .milliseconds(50)))
      if Task.isCancelled { return false }
    }
    return await outcome.hasCome
  }

  /// Returns at the first signal, or when `limit` is over, or when its task is cancelled.
  func wait(atMost limit: Duration?) async {
    let deadline = limit.map { ContinuousClock.now + $0 }
    while !Task.isCancelled, deadline.map({ ContinuousClock.now < $0 }) ?? true {
      let rest = deadline.map { $0 - ContinuousClock.now } ?? .seconds(1)
      if await came(within: min(rest, .seconds(1))) { return }
    }
  }
}

private actor InterruptionState {
  private(set) var hasCome = false
  func came() { hasCome = true }
}
