/// How libnice gets to a TURN server.
struct RelayRoute: Sendable {
  /// What takes TURN for it; one of each family.
  let endpoints: [(address: String, port: UInt16)]
  /// Why there is no relay, as far as that is known by now.
  let failure: @Sendable () -> String?

  /// Blocks while a name is looked up, so never on the loop.
  init(to url: ICEServerURL, tunnels: RelayTunnels?) {
    guard url.isSecure else {
      let addresses = HostName.addresses(of: url.host)
      endpoints = addresses.map { ($0, url.port) }
      failure = { addresses.isEmpty ? "the host name cannot be resolved" : nil }
      return
    }
    // What libnice calls TURN over TLS is Google's imitation of it, which no TURN server of today speaks.
    guard let tunnels, url.isTCP else {
      endpoints = []
      failure = { "\(url.isTCP ? "TLS" : "DTLS") is not supported" }
      return
    }
    let tunnel = tunnels(url.host, url.port)
    // Each family would have a relay of its own.
    let hasIPv4 = LocalAddresses.all(withLoopback: false).contains { !$0.contains(":") }
    endpoints = Array(tunnel.endpoints.filter { $0.address.contains(":") != hasIPv4 }.prefix(1))
    failure = { tunnel.failure }
  }
}

/// A TURN server as it was named, for the message of a transport that cannot connect.
struct NamedRelay {
  let url: String
  /// Nil while it is looked for.
  var route: RelayRoute?
  /// The next one, where its name was not found.
  var lookUp: LoopTimer?

  var description: String { url + (route?.failure().map { " (\($0))" } ?? "") }
}
