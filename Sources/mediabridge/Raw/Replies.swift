import Egress
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore

/// Sends into the room what commands print. No command waits for it.
final class Replies: Sendable {
  private struct State {
    var sent = 0
    var refused = 0
    var dropped = 0
    /// Not sent yet.
    var waiting = 0
    var failure: LiveKitError?
  }

  /// Messages that wait while the connection is brought back.
  private static let most = 500
  private let console: Console
  private let state = Locked(State())
  private let messages: AsyncStream<ReplyMessage>.Continuation
  private let sending: Task<Void, Never>

  /// - Parameter room: that is joined before anything is printed.
  init(to room: Room, _ console: Console) {
    self.console = console
    let (stream, messages) = AsyncStream<ReplyMessage>.makeStream(bufferingPolicy: .bufferingOldest(Self.most))
    self.messages = messages
    sending = Task { [state] in
      for await message in stream { await Self.send(message, to: room, state, console) }
    }
  }

  private static func send(_ message: ReplyMessage, to room: Room, _ state: Locked<State>, _ console: Console) async {
    do {
      try await room.localParticipant.publish(data: message.payload, options: message.options)
      state.withLock { ($0.sent, $0.waiting) = ($0.sent + 1, $0.waiting - 1) }
    } catch {
      state.withLock { $0.waiting -= 1 }
      let reason = (error as? LiveKitError)?.message ?? "\(error)"
      let failure = LiveKitError(.network, "--reply: a message was not sent: \(reason)", underlying: error)
      let isFirst = state.withLock { state in
        defer { state.failure = state.failure ?? failure }
        return state.failure == nil
      }
      if isFirst { console.say("\(failure.message).") }
    }
  }

  /// - Parameter name: of the command.
  func take(_ outcome: ReplyLines.Outcome, of name: String) {
    switch outcome {
    case .message(let message):
      state.withLock { $0.waiting += 1 }
      guard case .dropped = messages.yield(message) else { return }
      state.withLock { $0.waiting -= 1 }
      drop(name, "\(Self.most) messages wait already, since the room does not take them")
    case .dropped: drop(name, "it prints more than \(Int(ReplyLines.rate)) messages a second")
    case .refused(let line, let reason):
      guard state.withLock({ $0.refused.increment() }) else { return }
      console.say("\(name): a line is no message, since \(reason): \(line)")
      console.event("reply_refused", ["line": line, "reason": reason])
    }
  }

  private func drop(_ name: String, _ reason: String) {
    guard state.withLock({ $0.dropped.increment() }) else { return }
    console.say("\(name): \(reason); what is too much is left out.")
    console.event("reply_dropped")
  }

  /// Sends what waits, for 2 s at most. No command runs any more.
  /// - Returns: why a message was not sent.
  func finish() async -> LiveKitError? {
    messages.finish()
    let timer = Task { [sending] in
      try? await Task.sleep(for: .seconds(2))
      if !Task.isCancelled { sending.cancel() }
    }
    await sending.value
    timer.cancel()
    let state = state.withLock { $0 }
    let unsent = LiveKitError(.network, "--reply: \(state.waiting) messages could not be sent at the end")
    let refused = state.refused > 0 ? ", \(state.refused) lines were none" : ""
    let dropped = state.dropped > 0 ? ", \(state.dropped) were too many" : ""
    console.say("--reply: \(state.sent) messages sent\(refused)\(dropped)")
    console.event("replies", ["sent": state.sent, "refused": state.refused, "dropped": state.dropped])
    return state.failure ?? (state.waiting > 0 ? unsent : nil)
  }
}

extension Int {
  /// - Returns: whether it is the first.
  fileprivate mutating func increment() -> Bool {
    self += 1
    return self == 1
  }
}

extension VideoGrant {
  /// A recorder that may say something.
  static func replier(room: String) -> VideoGrant {
    var grant = recorder(room: room)
    grant.canPublishData = true
    return grant
  }
}
