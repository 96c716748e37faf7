/// Options of one `connect`.
public struct ConnectOptions: Sendable {
  /// Overrides ``RoomOptions/autoSubscribe`` for this connect; nil leaves it.
  public var autoSubscribe: Bool?
  /// The longest that joining and the first media connection may take.
  public var timeout: Duration

  /// How often a connection that was lost is tried to be brought back before the room is given up; 0 gives it up at
  /// once. With the usual delays ten attempts go on for about 45 s.
  public var reconnectAttempts: Int
  /// In seconds: the wait before the second attempt, which grows with the square of the number of attempts, and the
  /// longest wait. Up to a second more is added by chance to the longer ones, so that not everybody comes at once.
  public var reconnectAttemptDelay: Double
  /// In seconds: no wait between two attempts is longer, but for the second that chance may add.
  public var reconnectMaxDelay: Double

  /// STUN and TURN servers in place of those that the server names; empty for the server's.
  public var iceServers: [IceServer]
  /// Which ways media may take. A server that wants this client to use relays only is obeyed where a `turn:` server is
  /// named.
  public var iceTransportPolicy: IceTransportPolicy

  /// The defaults bring a lost connection back within about 45 s, or give it up.
  public init(
    autoSubscribe: Bool? = nil, timeout: Duration = .seconds(15), reconnectAttempts: Int = 10,
    reconnectAttemptDelay: Double = 0.3, reconnectMaxDelay: Double = 7, iceServers: [IceServer] = [],
    iceTransportPolicy: IceTransportPolicy = .all
  ) {
    self.autoSubscribe = autoSubscribe
    self.timeout = timeout
    self.reconnectAttempts = reconnectAttempts
    self.reconnectAttemptDelay = reconnectAttemptDelay
    self.reconnectMaxDelay = reconnectMaxDelay
    self.iceServers = iceServers
    self.iceTransportPolicy = iceTransportPolicy
  }
}

/// A server that helps to find a way for media.
public struct IceServer: Sendable, Hashable {
  /// `stun:`, `turn:` or `turns:` URLs.
  public let urls: [String]
  /// For TURN.
  public let username: String?
  /// For TURN.
  public let credential: String?

  /// - Parameter urls: `stun:`, `turn:` or `turns:` URLs.
  public init(urls: [String], username: String? = nil, credential: String? = nil) {
    (self.urls, self.username, self.credential) = (urls, username, credential)
  }
}

/// Which ways media may take.
public enum IceTransportPolicy: Sendable, Hashable {
  /// Only by way of a TURN server, which hides this machine's address from the server.
  case relay
  /// Any: direct ones are preferred.
  case all
}
