import Foundation
import LiveKitProtocol
import Testing

/// A token taken apart with Foundation, and its signature as the `openssl` program computes it: nothing of ours.
private struct Parts {
  let header: [String: Any]
  let claims: [String: Any]
  let signed: String
  let signature: Data

  init(_ token: String) throws {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    header = try #require(try JSONSerialization.jsonObject(with: Self.data(parts[0])) as? [String: Any])
    claims = try #require(try JSONSerialization.jsonObject(with: Self.data(parts[1])) as? [String: Any])
    signed = parts[0] + "." + parts[1]
    signature = try Self.data(parts[2])
  }

  private static func data(_ text: String) throws -> Data {
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    return try #require(Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
  }

  static func hmac(_ text: String, secret: String) throws -> Data {
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    let key = secret.utf8.map { String(format: "%02x", $0) }.joined()
    process.arguments = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(key)", "-binary"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    let result = try #require(try output.fileHandleForReading.readToEnd())
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return result
  }
}

@Suite("Access tokens")
struct AccessTokenTests {
  private static let now = Date(timeIntervalSince1970: 1_700_000_000)

  private static func token(
    secret: String, identity: String = "bob", validFor: TimeInterval = 600, at time: Date = .now
  ) throws -> String {
    try AccessToken(
      apiKey: "APIkey", identity: identity, grant: .recorder(room: "r"), validFor: validFor, now: time
    ).signed(secret: secret)
  }

  @Test func theClaimsAreThoseOfLiveKit() throws {
    var token = AccessToken(
      apiKey: "APIkey", identity: "björn \"x\"", grant: .recorder(room: "my room"), validFor: 600, now: Self.now)
    token.name = "Björn"
    token.metadata = "{\"a\": 1}"
    token.attributes = ["k": "v"]
    let parts = try Parts(try token.signed(secret: "secret"))
    #expect(parts.header["alg"] as? String == "HS256" && parts.header["typ"] as? String == "JWT")
    let expected: [String: Any] = [
      "iss": "APIkey", "sub": "björn \"x\"", "nbf": 1_699_999_995, "exp": 1_700_000_600, "name": "Björn",
      "metadata": "{\"a\": 1}", "attributes": ["k": "v"],
      "video": [
        "room": "my room", "roomJoin": true, "canPublish": false, "canSubscribe": true, "canPublishData": false,
        "hidden": true, "recorder": true,
      ],
    ]
    #expect(NSDictionary(dictionary: parts.claims) == NSDictionary(dictionary: expected))
  }

  /// The development server's secret has six bytes, fewer than a hash.
  @Test(arguments: [
    "secret", "x", "exactly-32-bytes-long-1234567890", "ein längeres Geheimnis", String(repeating: "k", count: 100),
  ])
  func theSignatureIsWhatOpenSSLComputes(secret: String) throws {
    let parts = try Parts(try Self.token(secret: secret))
    #expect(try parts.signature == Parts.hmac(parts.signed, secret: secret))
  }

  @Test func aTokenIsReadBack() throws {
    let token = try AccessToken(
      verifying: try Self.token(secret: "secret"), apiKey: "APIkey", secret: "secret")
    #expect(token.identity == "bob" && token.video == .recorder(room: "r"))
  }

  private func refusal(_ token: String, apiKey: String = "APIkey", secret: String = "secret") -> TokenError? {
    do {
      _ = try AccessToken(verifying: token, apiKey: apiKey, secret: secret)
      return nil
    } catch {
      return error
    }
  }

  @Test func wrongSecretsAreRefused() throws {
    let token = try Self.token(secret: "secret")
    #expect(refusal(token) == nil)
    for secret in ["Secret", "secre", "secret1", "", "secret secret secret secret secret"] {
      #expect(refusal(token, secret: secret) == .invalid, "\(secret)")
    }
  }

  @Test func withoutASecretEachTokenIsRefused() throws {
    #expect(try refusal(Self.token(secret: ""), secret: "") == .invalid)
  }

  @Test func anotherKeyIsRefused() throws {
    #expect(try refusal(Self.token(secret: "secret"), apiKey: "other") == .unknownKey)
  }

  @Test func tokensBeforeAndAfterTheirTimeAreRefused() throws {
    #expect(try refusal(Self.token(secret: "secret", at: .now.addingTimeInterval(-700))) == .outsideItsTime)
    #expect(try refusal(Self.token(secret: "secret", at: .now.addingTimeInterval(700))) == .outsideItsTime)
  }

  @Test func changedAndBrokenTokensAreRefused() throws {
    let token = try Self.token(secret: "secret")
    let parts = token.split(separator: ".").map(String.init)
    let other = try Self.token(secret: "secret", identity: "eve").split(separator: ".").map(String.init)
    let none = Data("{\"alg\":\"none\"}".utf8).base64EncodedString().replacing("=", with: "")
    for broken in [
      "", ".", "..", "a.b.c", "\(parts[0]).\(other[1]).\(parts[2])", "\(parts[0]).\(parts[1]).", token + "x",
      "\(none).\(parts[1]).", String(token.dropLast(10)), token + "." + parts[2], "\u{0}",
      String(repeating: ".", count: 1000),
    ] {
      #expect(refusal(broken) == .invalid, "\(broken.debugDescription)")
    }
  }

  @Test func whatNoHeaderCarriesIsNoToken() throws {
    #expect(try TokenText.isWellFormed(Self.token(secret: "secret")))
    for text in ["", "a b", "a.b.c\n", "a\r\nHost: x", "tökén", "a\u{0}", String(repeating: "x", count: 20_000)] {
      #expect(!TokenText.isWellFormed(text), "\(text.debugDescription.prefix(20))")
    }
  }
}
