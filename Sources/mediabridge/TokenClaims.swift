import Foundation
import LiveKitProtocol

/// What a token says, unverified: the server judges it.
struct TokenClaims: Decodable {
  private var sub: String?
  private var video: VideoGrant?

  /// Of its holder; nil where it has none.
  var identity: String? { sub.flatMap { $0.isEmpty ? nil : $0 } }
  var room: String? { video?.room }

  /// - Returns: nil for what is no token.
  static func of(_ token: String) -> TokenClaims? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Data(base64Encoded: text + padding).flatMap { try? JSONDecoder().decode(Self.self, from: $0) }
  }
}
