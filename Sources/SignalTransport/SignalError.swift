import LiveKitProtocol

/// Why there is no signalling connection, in words that say what to do.
public enum SignalError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Not the address of a server; the text.
  case invalidURL(String)
  /// A port that does not exist.
  case invalidPort(Int, url: String)
  /// The token cannot be one: empty, too long, or with characters that no token has.
  case malformedToken
  /// DNS does not know the host.
  case unresolvedHost(String)
  /// Nothing listens there; host and port.
  case connectionRefused(String)
  /// No answer within the time limit; host and port.
  case timedOut(String)
  /// The TLS handshake failed, mostly for the certificate.
  case tls(host: String, reason: String)
  /// The server answered the join with an HTTP status and, from its validation, a reason.
  case refused(status: Int, reason: String)
  /// Something answers, and it is no LiveKit server; host and port.
  case notLiveKit(String)
  /// A connection that was made does not speak LiveKit's protocol.
  case badMessage(String, String)
  /// The server ended the connection and said why.
  case closed(String)
  /// The connection broke, or the server fell silent.
  case lost(String, String)

  /// For people: what happened, and what to do about it.
  public var description: String {
    switch self {
    case .invalidURL(let url): "'\(url)' is not a server address; use ws://HOST:PORT or wss://HOST"
    case .invalidPort(let port, let url): "port \(port) in '\(url)' does not exist; ports go from 1 to 65535"
    case .malformedToken:
      "what was given as the token is none; check that all of it was copied, without spaces or line ends"
    case .unresolvedHost(let host): "the host name '\(host)' cannot be resolved; check the address"
    case .connectionRefused(let server):
      "nothing answers at \(server); check the address and that the server is running"
    case .timedOut(let server): "\(server) did not answer in time; check the address and the network"
    case .tls(let host, let reason): "no secure connection to \(host): \(reason)"
    case .refused(let status, let reason): Self.refusal(status, reason)
    case .notLiveKit(let server):
      "what answers at \(server) is not a LiveKit server; check host and port, and the path if a proxy is in front"
    case .badMessage(let server, let what):
      "\(server) does not speak LiveKit's protocol (it sent \(what)); check the address and the server's version"
    case .closed(let reason): "the server closed the connection: \(reason)"
    case .lost(let server, let reason):
      "the connection to \(server) is lost: \(reason); check the network and that the server is running"
    }
  }

  private static func refusal(_ status: Int, _ reason: String) -> String {
    switch status {
    case 300..<400: "the server redirects elsewhere (HTTP \(status)); use the address it leads to, perhaps with wss://"
    case 401: "the server refused the token: \(reason); check API key, secret, room and expiry"
    case 403: "the token does not allow this: \(reason); ask for a token that grants it"
    case 404: "the server has no such room: \(reason); create it, or check its name"
    case 426:
      "the server takes the join, but no WebSocket gets through to it (\(reason)); a proxy in front of it has to pass on the "
        + "headers Upgrade and Connection"
    case 429: "the server takes no more joins now: \(reason); try again later"
    case 500...: "the server failed (HTTP \(status)): \(reason); try again, or look into its log"
    default: "the server refused the join (HTTP \(status)): \(reason)"
    }
  }

  /// What a server says, as one line that does nothing to a terminal. LiveKit's repeats the token that it refuses, which is
  /// secret, and says why behind it.
  static func shown(_ text: String) -> String {
    let line = (text.split(whereSeparator: \.isNewline).first ?? "").replacing(/eyJ[\w\-]*(\.[\w\-]*)+/, with: "…")
    return String(
      String.UnicodeScalarView(line.unicodeScalars.filter { $0.properties.generalCategory != .control }).prefix(200))
  }
}

extension SignalError {
  init(_ failure: SignalFailure, server: String) {
    self =
      switch failure {
      case .unreadable(let what): .badMessage(server, what)
      case .unexpected(let message): .badMessage(server, "an unexpected '\(message)'")
      case .noJoin: .timedOut(server)
      case .noPong(let time): .lost(server, "it has not answered for \(time.components.seconds) s")
      case .left(let reason, _): .closed("it told this participant to leave (\(reason))")
      case .closed(let reason): .closed(Self.shown(reason))
      case .broken(let reason): .lost(server, reason)
      }
  }
}
