import COpenSSL
import Foundation

/// A JSON Web Token (RFC 7519) that is signed with HS256 (RFC 7518, 3.2).
enum JSONWebToken {
  private struct Header: Decodable {
    let alg: String
    let typ: String?
  }

  /// - Parameter claims: JSON.
  static func text(claims: Data, secret: String) -> String {
    let signed = base64URL(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + base64URL(claims)
    return signed + "." + base64URL(Data(signature(of: signed, secret: secret)))
  }

  /// The JSON that `token` carries; nil where it is none, or is signed otherwise.
  static func claims(of token: String, secret: String) -> Data? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !secret.isEmpty, let header = data(parts[0]), let claims = data(parts[1]),
      let shown = data(parts[2]),
      let header = try? JSONDecoder().decode(Header.self, from: header), header.alg == "HS256"
    else { return nil }
    let expected = signature(of: "\(parts[0]).\(parts[1])", secret: secret)
    // Takes as long wherever they differ: who tries learns nothing by it.
    guard shown.count == expected.count, CRYPTO_memcmp(Array(shown), expected, expected.count) == 0 else { return nil }
    return claims
  }

  /// The JSON that `token` carries, whoever has signed it; nil where it is none.
  static func unverifiedClaims(of token: String) -> Data? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 3 ? decoded(parts[1]) : nil
  }

  private static func signature(of text: String, secret: String) -> [UInt8] {
    let (key, text) = (Array(secret.utf8), Array(text.utf8))
    var signature = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let isMade = HMAC(EVP_sha256(), key, Int32(key.count), text, text.count, &signature, &count) != nil
    precondition(isMade, "OpenSSL has no HMAC-SHA-256")
    return Array(signature.prefix(Int(count)))
  }

  private static func base64URL(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// RFC 7515, 2: without padding.
  private static func data(_ text: Substring) -> Data? {
    text.utf8.contains(where: { "=+/".utf8.contains($0) }) ? nil : decoded(text)
  }

  private static func decoded(_ text: Substring) -> Data? {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4))
  }
}
