import Egress
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore

/// Sends into the room what commands print, or shows it on the mixed room. No command waits for it.
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
  private let kind: ReplyKind
  private let room: Room
  private let composite = Locked<RoomComposite?>(nil)
  private let waiting: AsyncStream<Reply>.Continuation
  private let sending = Locked<Task<Void, Never>?>(nil)

  /// A line, and the name of the command that has printed it.
  private struct Reply: Sendable {
    var outcome: ReplyLines.Outcome
    var name: String
  }

  /// - Parameter room: that is joined before anything is printed.
  init(_ kind: ReplyKind, to room: Room, _ console: Console) {
    (self.kind, self.room, self.console) = (kind, room, console)
    let (stream, waiting) = AsyncStream<Reply>.makeStream(bufferingPolicy: .bufferingOldest(Self.most))
    self.waiting = waiting
    sending.withLock { $0 = Task { [weak self] in for await reply in stream { await self?.carryOut(reply) } } }
  }

  /// What lines are.
  var form: ReplyLines.Form { kind == .label ? .labels : .messages }

  /// Where labels are shown.
  func show(on composite: RoomComposite) { self.composite.withLock { $0 = composite } }

  private func carryOut(_ reply: Reply) async {
    switch reply.outcome {
    case .message(let message): await send(message)
    case .label(let label): await show(label, of: reply.name)
    case .refused, .dropped: break
    }
    state.withLock { $0.waiting -= 1 }
  }

  private func send(_ message: ReplyMessage) async {
    do {
      try await room.localParticipant.publish(data: message.payload, options: message.options)
      state.withLock { $0.sent += 1 }
    } catch {
      let reason = (error as? LiveKitError)?.message ?? "\(error)"
      let failure = LiveKitError(.network, "--reply: a message was not sent: \(reason)", underlying: error)
      let isFirst = state.withLock { state in
        defer { state.failure = state.failure ?? failure }
        return state.failure == nil
      }
      if isFirst { console.say("\(failure.message).") }
    }
  }

  private func show(_ label: CompositeLabel, of name: String) async {
    do throws(LiveKitError) {
      try await composite.withLock { $0 }?.set(label: label)
      state.withLock { $0.sent += 1 }
    } catch { refuse(label.text, error.message, of: name) }
  }

  /// - Parameter name: of the command.
  func take(_ outcome: ReplyLines.Outcome, of name: String) {
    switch outcome {
    case .message, .label:
      state.withLock { $0.waiting += 1 }
      guard case .dropped = waiting.yield(Reply(outcome: outcome, name: name)) else { return }
      state.withLock { $0.waiting -= 1 }
      drop(name, "\(Self.most) messages wait already, since the room does not take them")
    case .dropped: drop(name, "it prints more than \(Int(ReplyLines.rate)) messages a second")
    case .refused(let line, let reason): refuse(line, reason, of: name)
    }
  }

  private func refuse(_ line: String, _ reason: String, of name: String) {
    guard state.withLock({ $0.refused.increment() }) else { return }
    console.say("\(name): a line is no \(kind == .label ? "label" : "message"), since \(reason): \(line)")
    console.event("reply_refused", ["line": line, "reason": reason])
  }

  private func drop(_ name: String, _ reason: String) {
    guard state.withLock({ $0.dropped.increment() }) else { return }
    console.say("\(name): \(reason); what is too much is left out.")
    console.event("reply_dropped")
  }

  /// Sends what waits, for 2 s at most. No command runs any more.
  /// - Returns: why a message was not sent.
  func finish() async -> LiveKitError? {
    waiting.finish()
    let sending = sending.withLock { $0 }
    let timer = Task {
      try? await Task.sleep(for: .seconds(2))
      if !Task.isCancelled { sending?.cancel() }
    }
    await sending?.value
    timer.cancel()
    let isTaken = await room.flushMessages()
    let state = state.withLock { $0 }
    let refused = state.refused > 0 ? ", \(state.refused) lines were none" : ""
    let dropped = state.dropped > 0 ? ", \(state.dropped) were too many" : ""
    let done = kind == .label ? "labels shown" : "messages sent"
    console.say("--reply: \(state.sent) \(done)\(refused)\(dropped)")
    console.event("replies", ["sent": state.sent, "refused": state.refused, "dropped": state.dropped])
    return state.failure ?? lack(waiting: state.waiting, isTaken: isTaken)
  }

  private func lack(waiting: Int, isTaken: Bool) -> LiveKitError? {
    guard waiting == 0 else {
      return LiveKitError(.network, "--reply: \(waiting) messages could not be sent at the end")
    }
    return isTaken ? nil : LiveKitError(.network, "--reply: the server has not acknowledged the last messages")
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
