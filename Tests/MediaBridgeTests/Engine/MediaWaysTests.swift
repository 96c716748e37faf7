import LiveKitProtocol
import PeerTransport
import Testing

@testable import MediaBridge

/// Which ways a server and the program leave to media.
@Suite struct MediaWaysTests {
  private static func server(_ urls: [String]) -> Livekit_ICEServer {
    var server = Livekit_ICEServer()
    server.urls = urls
    return server
  }

  private static func ways(_ options: ConnectOptions = ConnectOptions(), _ urls: [String] = []) -> MediaWays {
    var join = Livekit_JoinResponse()
    join.iceServers = [server(urls)]
    return MediaWays(join, options, isServerOnLoopback: false)
  }

  private static func reconnect(
    _ setting: Livekit_ClientConfigSetting, _ urls: [String]
  ) -> Livekit_ReconnectResponse {
    var reconnect = Livekit_ReconnectResponse()
    reconnect.iceServers = [server(urls)]
    reconnect.clientConfiguration.forceRelay = setting
    return reconnect
  }

  /// A server that has seen other ways fail says so when the session goes on, and takes it back.
  @Test func relaysAreForcedAndLiftedAtAResume() {
    let (relay, options) = (["turn:relay:3478?transport=tcp"], ConnectOptions())
    var ways = Self.ways()
    #expect(!ways.servers.isRelayOnly)
    ways.renew(Self.reconnect(.enabled, relay), options)
    #expect(ways.servers == ICEServers([ICEServer(urls: relay)], isRelayOnly: true))
    ways.renew(Self.reconnect(.unset, relay), options)
    #expect(!ways.servers.isRelayOnly)
  }

  @Test func whatTheProgramWantsStays() {
    let options = ConnectOptions(iceServers: [IceServer(urls: ["turn:own"])], iceTransportPolicy: .relay)
    var ways = Self.ways(options)
    ways.renew(Self.reconnect(.unset, ["turn:relay"]), options)
    #expect(ways.servers == ICEServers([ICEServer(urls: ["turn:own"])], isRelayOnly: true))
  }

  /// LiveKit's own is reached by TLS where it stands behind a load balancer.
  @Test func aRelayByTLSIsOne() {
    var ways = Self.ways()
    ways.renew(Self.reconnect(.enabled, ["turns:relay:443?transport=tcp"]), ConnectOptions())
    #expect(ways.servers.isRelayOnly)
  }

  /// Both connections of a session, and each restart of ICE.
  @Test func oneTunnelLeadsToARelay() {
    let ways = Self.ways()
    let ports = [443, 443, 5349].map { ways.tunnels("127.0.0.1", $0).endpoints.map(\.port) }
    #expect(ports[0] == ports[1] && Set(ports[0]).isDisjoint(with: ports[2]) && !ports[0].isEmpty)
  }

  /// A program may have STUN servers of its own in place of a server's relays.
  @Test func withoutARelayAServersWishIsPassedOver() {
    let options = ConnectOptions(iceServers: [IceServer(urls: ["stun:own"])])
    var ways = Self.ways(options, ["turn:relay"])
    ways.renew(Self.reconnect(.enabled, ["turn:relay"]), options)
    #expect(ways.servers == ICEServers([ICEServer(urls: ["stun:own"])]))
    var join = Livekit_JoinResponse()
    join.clientConfiguration.forceRelay = .enabled
    #expect(!MediaWays(join, ConnectOptions(), isServerOnLoopback: false).areNone)
    let relayed = ConnectOptions(iceServers: options.iceServers, iceTransportPolicy: .relay)
    #expect(Self.ways(relayed, ["turn:relay"]).areNone)
  }
}
