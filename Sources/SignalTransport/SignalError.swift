/// Why there is no signalling connection, in words that say what to do.
public enum SignalError: Error, Sendable, Equatable, CustomStringConvertible {
  case invalidURL(String)
  case unresolvedHost(String)
  case connectionRefused(String)
  case timedOut(String)
  case tls(host: String, reason: String)
  /// The server answered the join with an HTTP status and, from its validation, a reason.
  case refused(status: Int, reason: String)
  case notLiveKit(String)
  case closed(String)

  public var description: String {
    switch self {
    case .invalidURL(let url): "'\(url)' is not a server address; use ws://HOST:PORT or wss://HOST"
    case .unresolvedHost(let host): "the host name '\(host)' cannot be resolved; check the address"
    case .connectionRefused(let server):
      "nothing answers at \(server); check the address and that the server is running"
    case .timedOut(let server): "\(server) did not answer in time; check the address and the network"
    case .tls(let host, let reason): "no secure connection to \(host): \(reason)"
    case .refused(401, let reason):
      "the server refused the token: \(reason); check API key, secret, room and expiry"
    case .refused(403, let reason): "the token does not allow this: \(reason)"
    case .refused(404, let reason): "the server has no such room: \(reason)"
    case .refused(let status, let reason): "the server refused to join (HTTP \(status)): \(reason)"
    case .notLiveKit(let server): "what answers at \(server) is not a LiveKit server"
    case .closed(let reason): "the server closed the connection: \(reason)"
    }
  }
}
