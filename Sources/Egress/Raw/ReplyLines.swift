import Foundation
package import MediaCore

/// Takes what a command prints apart into messages, of which there may be so many a second. Pure.
package struct ReplyLines: Sendable {
  package enum Outcome: Equatable, Sendable {
    case message(ReplyMessage)
    /// - Parameters:
    ///   - line: as much of it as is to be shown.
    case refused(line: String, reason: String)
    /// Too many came.
    case dropped
  }

  /// Messages a second, and how many may come at once.
  package static let rate = 20.0
  package static let burst = 100.0
  private static let shown = 200
  /// What has come of a line that has not ended.
  private var begun: [UInt8] = []
  private var left = Self.burst
  private var newest: MediaTime?

  package init() {}

  /// - Parameter bytes: what was printed, of which lines need not be whole.
  package mutating func take(_ bytes: some Sequence<UInt8>, at time: MediaTime) -> [Outcome] {
    var outcomes: [Outcome] = []
    refill(time)
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        // Of a line that is too long no more is kept than shows that.
        if begun.count <= ReplyMessage.most { begun.append(byte) }
        continue
      }
      if let outcome = endLine() { outcomes.append(outcome) }
    }
    return outcomes
  }

  /// Nothing comes any more.
  package mutating func end(at time: MediaTime) -> Outcome? {
    refill(time)
    return endLine()
  }

  private mutating func refill(_ time: MediaTime) {
    left = min(left + Self.rate * (time - (newest ?? time)).seconds, Self.burst)
    newest = time
  }

  private mutating func endLine() -> Outcome? {
    defer { begun.removeAll(keepingCapacity: true) }
    guard begun.contains(where: { $0 > 0x20 }) else { return nil }
    guard left >= 1 else { return .dropped }
    left -= 1
    do throws(ReplyMessage.Refusal) { return .message(try ReplyMessage(line: begun)) } catch {
      return .refused(line: String(decoding: begun.prefix(Self.shown), as: UTF8.self), reason: error.reason)
    }
  }
}
