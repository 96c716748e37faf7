import MediaCore
import PeerTransport
import SignalTransport

/// The ways by TLS to the relays of a session, which both of its connections share. They end with it.
final class SecureRelays: Sendable {
  private let tunnels = Locked<[Server: TLSTunnel]>([:])

  private struct Server: Hashable {
    let host: String
    let port: UInt16
  }

  /// Blocks while a tunnel is opened.
  func tunnel(to host: String, port: UInt16) -> any RelayTunnel {
    let server = Server(host: host, port: port)
    if let open = tunnels.withLock({ $0[server] }) { return open }
    let new = TLSTunnel(to: host, port: port)
    guard !new.endpoints.isEmpty else { return new }
    // Somebody may have opened one meanwhile; one is enough.
    return tunnels.withLock { tunnels in
      let open = tunnels[server] ?? new
      tunnels[server] = open
      return open
    }
  }
}

extension TLSTunnel: RelayTunnel {}
