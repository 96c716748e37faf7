public import Foundation

/// What a token allows its holder in a room: LiveKit's `video` claim.
public struct VideoGrant: Codable, Sendable, Equatable {
  /// The room that `roomJoin` and `roomAdmin` are about.
  public var room: String?
  /// May join `room`.
  public var roomJoin: Bool?
  /// May publish tracks; absent means yes to a LiveKit server.
  public var canPublish: Bool?
  /// Only of these sources: `camera`, `microphone`, `screen_share`, `screen_share_audio`; absent or empty means all.
  public var canPublishSources: [String]?
  /// May receive what others publish; absent means yes.
  public var canSubscribe: Bool?
  /// May send data messages; absent means what `canPublish` says.
  public var canPublishData: Bool?
  /// Name, metadata and attributes of the holder's own.
  public var canUpdateOwnMetadata: Bool?
  /// Is not shown to the others.
  public var hidden: Bool?
  /// Is counted as one who records the room, which the others are told.
  public var recorder: Bool?
  /// May make and delete rooms.
  public var roomCreate: Bool?
  /// May list rooms.
  public var roomList: Bool?
  /// May moderate `room`.
  public var roomAdmin: Bool?

  /// A claim that is nil is not written.
  public init(room: String? = nil, roomJoin: Bool? = nil) {
    self.room = room
    self.roomJoin = roomJoin
  }

  /// Joins `room` and may publish.
  public static func publisher(room: String) -> VideoGrant {
    var grant = VideoGrant(room: room, roomJoin: true)
    grant.canPublish = true
    return grant
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
public struct AccessToken: Codable, Sendable, Equatable {
  /// The API key, by which the server finds the secret.
  public var iss: String
  /// The identity.
  public var sub: String
  /// From that moment on it is refused, in seconds since 1970.
  public var exp: Double
  /// Before that moment it is refused, in seconds since 1970.
  public var nbf: Double?
  /// What the participant is called for people.
  public var name: String?
  /// The participant's metadata.
  public var metadata: String?
  /// The participant's attributes.
  public var attributes: [String: String]?
  /// What kind of participant it is, such as `agent`.
  public var kind: String?
  /// What its holder may do.
  public var video: VideoGrant

  /// - Parameters:
  ///   - lifetime: seconds.
  ///   - now: valid from 5 s before that on, for clocks that differ.
  public init(apiKey: String, identity: String, grant: VideoGrant, validFor lifetime: TimeInterval, now: Date) {
    iss = apiKey
    sub = identity
    // Whole seconds: a server may read them as an integer.
    nbf = (now.timeIntervalSince1970 - 5).rounded(.down)
    exp = (now.timeIntervalSince1970 + lifetime).rounded(.down)
    video = grant
  }

  /// Who joins with it.
  public var identity: String { sub }

  /// The token as text.
  public func signed(secret: String) throws -> String {
    JSONWebToken.text(claims: try JSONEncoder().encode(self), secret: secret)
  }

  /// Reads `token` and checks signature, issuer and time.
  public init(verifying token: String, apiKey: String, secret: String, now: Date = Date()) throws(TokenError) {
    guard let claims = JSONWebToken.claims(of: token, secret: secret),
      let token = try? JSONDecoder().decode(AccessToken.self, from: claims)
    else { throw .invalid }
    let now = now.timeIntervalSince1970
    guard token.nbf ?? now <= now, now < token.exp else { throw .outsideItsTime }
    guard token.iss == apiKey else { throw .unknownKey }
    self = token
  }
}

/// Why a token is refused.
public enum TokenError: Error, Equatable, Sendable {
  /// No token, or signed with another secret.
  case invalid
  /// Expired, or not valid yet.
  case outsideItsTime
  /// Made with another API key.
  case unknownKey
}
