public import Foundation
public import JWTKit

/// What a token allows its holder in a room: LiveKit's `video` claim.
public struct VideoGrant: Codable, Sendable, Equatable {
  public var room: String?
  public var roomJoin: Bool?
  public var canPublish: Bool?
  public var canSubscribe: Bool?
  public var canPublishData: Bool?
  /// Name, metadata and attributes of the holder's own.
  public var canUpdateOwnMetadata: Bool?
  public var hidden: Bool?
  public var recorder: Bool?
  public var roomCreate: Bool?
  public var roomList: Bool?
  public var roomAdmin: Bool?

  public init(room: String? = nil, roomJoin: Bool? = nil) {
    self.room = room
    self.roomJoin = roomJoin
  }

  /// Joins `room` unseen, hears and sees everything and sends nothing.
  public static func recorder(room: String) -> VideoGrant {
    var grant = VideoGrant(room: room, roomJoin: true)
    grant.canSubscribe = true
    grant.canPublish = false
    grant.canPublishData = false
    grant.hidden = true
    grant.recorder = true
    return grant
  }
}

/// A LiveKit access token: a JWT signed with HS256, `iss` the API key, `sub` the identity.
public struct AccessToken: JWTPayload, Equatable {
  public var iss: IssuerClaim
  public var sub: SubjectClaim
  public var exp: ExpirationClaim
  public var nbf: NotBeforeClaim?
  public var name: String?
  public var metadata: String?
  public var attributes: [String: String]?
  public var video: VideoGrant

  public init(apiKey: String, identity: String, grant: VideoGrant, validFor lifetime: TimeInterval, now: Date) {
    iss = IssuerClaim(value: apiKey)
    sub = SubjectClaim(value: identity)
    nbf = NotBeforeClaim(value: now.addingTimeInterval(-5))
    exp = ExpirationClaim(value: now.addingTimeInterval(lifetime))
    video = grant
  }

  public var identity: String { sub.value }

  /// The token as text.
  public func signed(secret: String) async throws -> String {
    let keys = JWTKeyCollection()
    await keys.add(hmac: Self.key(secret), digestAlgorithm: .sha256)
    return try await keys.sign(self)
  }

  /// Reads `token` and checks signature, issuer and time.
  public init(verifying token: String, apiKey: String, secret: String) async throws(TokenError) {
    let keys = JWTKeyCollection()
    await keys.add(hmac: Self.key(secret), digestAlgorithm: .sha256)
    let payload: AccessToken
    do {
      payload = try await keys.verify(token, as: AccessToken.self)
    } catch let error as JWTError where error.errorType == .claimVerificationFailure {
      throw .outsideItsTime
    } catch {
      throw .invalid
    }
    guard payload.iss.value == apiKey else { throw .unknownKey }
    self = payload
  }

  /// JWTKit insists on 32 bytes, LiveKit's development secret has six. HMAC pads a short key with zeros (RFC 2104, 2),
  /// so padding it here makes the same signature.
  private static func key(_ secret: String) -> HMACKey {
    let bytes = Array(secret.utf8)
    return HMACKey(from: bytes + [UInt8](repeating: 0, count: max(0, 32 - bytes.count)))
  }

  public func verify(using algorithm: some JWTAlgorithm) async throws {
    try exp.verifyNotExpired()
    try nbf?.verifyNotBefore()
  }
}

/// Why a token is refused.
public enum TokenError: Error, Equatable, Sendable {
  case invalid
  case outsideItsTime
  case unknownKey
}
