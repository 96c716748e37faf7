import LiveKitProtocol
import PeerTransport

/// Which ways the connections of a session may take.
struct MediaWays: Sendable {
  var servers: [PeerTransport.ICEServer] = []
  var isRelayOnly = false
  /// To gather on; empty for all.
  var localAddresses: [String] = []
  /// How long the first connection may take.
  var timeout = Duration.seconds(15)

  init() {}

  /// The program's own servers are used in place of those that the join names.
  init(_ join: Livekit_JoinResponse, _ options: ConnectOptions, localAddresses: [String]) {
    servers =
      options.iceServers.isEmpty
      ? join.iceServers.map(ICEServer.init)
      : options.iceServers.map {
        ICEServer(urls: $0.urls, username: $0.username ?? "", credential: $0.credential ?? "")
      }
    isRelayOnly = options.iceTransportPolicy == .relay || join.clientConfiguration.forceRelay == .enabled
    (self.localAddresses, timeout) = (localAddresses, options.timeout)
  }

  /// A server that goes on with a session names its servers anew, since what they want to be told is good for minutes.
  mutating func renew(_ reconnect: Livekit_ReconnectResponse, _ options: ConnectOptions) {
    guard options.iceServers.isEmpty, !reconnect.iceServers.isEmpty else { return }
    servers = reconnect.iceServers.map(ICEServer.init)
  }

  /// Whether nothing can come about: only relays may be used, and nobody has named one.
  var areNone: Bool {
    isRelayOnly && !servers.contains { $0.urls.contains { $0.hasPrefix("turn:") || $0.hasPrefix("turns:") } }
  }
}

extension PeerTransport.ICEServer {
  fileprivate init(_ server: Livekit_ICEServer) {
    self.init(urls: server.urls, username: server.username, credential: server.credential)
  }
}

extension PeerConfiguration {
  /// For either connection of a session.
  init(isControlling: Bool, _ ways: MediaWays, loggers: Loggers) {
    self.init(isControlling: isControlling, logger: loggers.transport)
    (iceServers, isRelayOnly) = (ways.servers, ways.isRelayOnly)
    (localAddresses, connectTimeout) = (ways.localAddresses, ways.timeout)
  }
}

extension LiveKitError {
  static let noRelay = LiveKitError(
    .iceFailed,
    "media cannot be connected: only relays may be used, and no TURN server is named; give one in "
      + "`ConnectOptions.iceServers`, or set up TURN on the server")
}
