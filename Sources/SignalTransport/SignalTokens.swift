import Foundation
import LiveKitProtocol

/// The token that a participant was given, and the newest that the server has sent for it. Both are secret.
struct SignalTokens: Sendable {
  private let given: String
  /// To be used next; servers send another one before it expires.
  private(set) var newest: String

  init(_ given: String) { (self.given, newest) = (given, given) }

  mutating func renew(with token: String) { newest = token }

  /// The newest is refused: it holds for some minutes only, and may be signed with a key that the server has no more.
  /// - Returns: whether the given one may do in its place, which is the newest from now on.
  mutating func goBack(at time: Date) -> Bool {
    guard newest != given, let former = TokenClaims(of: given), let latest = TokenClaims(of: newest),
      former.holds(at: time),
      // Whoever was moved to another room is not to join the former one.
      former.identity == latest.identity, former.room == latest.room
    else { return false }
    newest = given
    return true
  }
}
