import Foundation
import LiveKitProtocol

/// The token that a participant was given, and the newest that the server has sent for it. Both are secret.
struct SignalTokens: Sendable {
  /// As far as it matters here, unverified: the server judges it.
  private struct Claims: Decodable {
    var sub: String?
    var exp: Double?
    var video: VideoGrant?

    init?(of token: String) {
      let parts = token.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      let text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
      let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
      guard let data = Data(base64Encoded: text + padding),
        let claims = try? JSONDecoder().decode(Self.self, from: data)
      else { return nil }
      self = claims
    }

    func holds(at time: Date) -> Bool { exp.map { time.timeIntervalSince1970 < $0 } ?? true }
    /// Whoever was moved to another room is not to join the former one.
    func isForSame(as other: Claims) -> Bool { sub == other.sub && video?.room == other.video?.room }
  }

  private let given: String
  /// To be used next; servers send another one before it expires.
  private(set) var newest: String

  init(_ given: String) { (self.given, newest) = (given, given) }

  mutating func renew(with token: String) { newest = token }

  /// The newest is refused: it holds for some minutes only, and may be signed with a key that the server has no more.
  /// - Returns: whether the given one may do in its place, which is the newest from now on.
  mutating func goBack(at time: Date) -> Bool {
    guard newest != given, let former = Claims(of: given), let latest = Claims(of: newest), former.holds(at: time),
      former.isForSame(as: latest)
    else { return false }
    newest = given
    return true
  }
}
