import LiveKitProtocol
import PeerTransport

/// Which ways the connections of a session may take.
struct MediaWays: Sendable {
  var servers = ICEServers()
  private let relaysByTLS = SecureRelays()
  /// Whether the server is reached on this machine.
  var isServerOnLoopback = false
  /// How long the first connection may take.
  var timeout = Duration.seconds(15)

  init() {}

  /// The program's own servers are used in place of those that the join names.
  init(_ join: Livekit_JoinResponse, _ options: ConnectOptions, isServerOnLoopback: Bool) {
    servers.list =
      options.iceServers.isEmpty
      ? join.iceServers.map(ICEServer.init)
      : options.iceServers.map {
        ICEServer(urls: $0.urls, username: $0.username ?? "", credential: $0.credential ?? "")
      }
    (self.isServerOnLoopback, timeout) = (isServerOnLoopback, options.timeout)
    obey(join.clientConfiguration, options)
  }

  /// A server that goes on with a session names its servers anew, since what they want to be told is good for minutes.
  /// It may have found meanwhile that media has to go through a relay, or need not any more.
  mutating func renew(_ reconnect: Livekit_ReconnectResponse, _ options: ConnectOptions) {
    if options.iceServers.isEmpty, !reconnect.iceServers.isEmpty {
      servers.list = reconnect.iceServers.map(ICEServer.init)
    }
    obey(reconnect.clientConfiguration, options)
  }

  /// LiveKit's server wants relays once it has seen UDP and TCP fail, and may name none that counts beside the
  /// program's own servers: then what has failed before is all there is.
  private mutating func obey(_ configuration: Livekit_ClientConfiguration, _ options: ConnectOptions) {
    let isForced = configuration.forceRelay == .enabled && !relays.isEmpty
    servers.isRelayOnly = options.iceTransportPolicy == .relay || isForced
  }

  private var relays: [String] {
    servers.list.flatMap(\.urls).filter { $0.hasPrefix("turn:") || $0.hasPrefix("turns:") }
  }

  /// Opens ways to those of them that are reached by TLS.
  var tunnels: RelayTunnels { { [relaysByTLS] in relaysByTLS.tunnel(to: $0, port: $1) } }

  /// Whether nothing can come about: the program allows relays only, and nobody has named one.
  var areNone: Bool { servers.isRelayOnly && relays.isEmpty }
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
    (servers, tunnels) = (ways.servers, ways.tunnels)
    (isServerOnLoopback, connectTimeout) = (ways.isServerOnLoopback, ways.timeout)
  }
}

extension LiveKitError {
  static let noRelay = LiveKitError(
    .iceFailed,
    "media cannot be connected: only relays may be used, and no TURN server is named; give one in "
      + "`ConnectOptions.iceServers`, or set up TURN on the server")
}
