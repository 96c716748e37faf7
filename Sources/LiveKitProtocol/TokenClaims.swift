package import Foundation

/// What a token says, unverified: the server judges it.
package struct TokenClaims: Decodable, Sendable {
  private var sub: String?
  private var exp: Double?
  private var video: VideoGrant?

  /// - Returns: nil for what is no token.
  package init?(of token: String) {
    guard let data = JSONWebToken.unverifiedClaims(of: token),
      let claims = try? JSONDecoder().decode(Self.self, from: data)
    else { return nil }
    self = claims
  }

  /// Of its holder; nil where it has none.
  package var identity: String? { sub.flatMap { $0.isEmpty ? nil : $0 } }
  /// The room that it is for; nil where it names none.
  package var room: String? { video?.room }

  /// Whether it has not expired.
  package func holds(at time: Date) -> Bool { exp.map { time.timeIntervalSince1970 < $0 } ?? true }
}
