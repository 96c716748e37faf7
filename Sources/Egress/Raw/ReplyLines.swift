import Foundation
import MediaBridge
package import MediaCore

/// Takes what a command prints apart into messages, of which there may be so many a second. Pure.
package struct ReplyLines: Sendable {
  package enum Outcome: Equatable, Sendable {
    case message(ReplyMessage)
    /// To be shown on the mixed room.
    case label(CompositeLabel)
    /// - Parameters:
    ///   - line: as much of it as is to be shown.
    case refused(line: String, reason: String)
    /// Too many came.
    case dropped
  }

  /// What lines are.
  package enum Form: Sendable {
    case messages
    case labels
  }

  /// Messages a second, and how many may come at once.
  package static let rate = 20.0
  package static let burst = 100.0
  private static let shown = 200
  /// What has come of a line that has not ended.
  private var begun: [UInt8] = []
  private var allowance = MessageRate(Self.rate, burst: Self.burst)
  private let form: Form

  package init(_ form: Form = .messages) { self.form = form }

  /// - Parameter bytes: what was printed, of which lines need not be whole.
  package mutating func take(_ bytes: some Sequence<UInt8>, at time: MediaTime) -> [Outcome] {
    var outcomes: [Outcome] = []
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        // Of a line that is too long no more is kept than shows that.
        if begun.count <= ReplyMessage.most { begun.append(byte) }
        continue
      }
      if let outcome = endLine(at: time) { outcomes.append(outcome) }
    }
    return outcomes
  }

  /// Nothing comes any more.
  package mutating func end(at time: MediaTime) -> Outcome? { endLine(at: time) }

  private mutating func endLine(at time: MediaTime) -> Outcome? {
    defer { begun.removeAll(keepingCapacity: true) }
    guard begun.contains(where: { $0 > 0x20 }) else { return nil }
    guard allowance.allows(at: time) else { return .dropped }
    do throws(ReplyMessage.Refusal) { return try outcome(of: begun) } catch {
      return .refused(line: String(decoding: begun.prefix(Self.shown), as: UTF8.self), reason: error.reason)
    }
  }

  private func outcome(of line: [UInt8]) throws(ReplyMessage.Refusal) -> Outcome {
    switch form {
    case .messages: return .message(try ReplyMessage(line: line))
    case .labels:
      try ReplyMessage.check(line)
      do throws(LiveKitError) { return .label(try CompositeLabel(line: line)) } catch {
        throw ReplyMessage.Refusal(reason: error.message)
      }
    }
  }
}
