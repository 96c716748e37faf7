import LiveKitProtocol
import MediaCore
import NIOCore
import NIOHTTP1

/// Joins a server's signalling, and finds out why when it refuses.
struct SignalConnector {
  let url: SignalURL
  let token: String
  let query: SignalQuery
  let timeout: Duration
  /// Whether a session begins or goes on; `query.resumedSid` says the same to the server.
  var opening = SignalState.Opening.join
  var authorities = NamedAuthorities.ofProcess
  /// Bytes of the largest message we take.
  var messageLimit = SignalHandler.messageLimit
  /// For the server's first message after the upgrade; nil means `timeout` once more.
  var joinTimeout: Duration?
  /// For TCP to one address; nil for no other limit than `timeout`.
  var connectTimeout: Duration?

  /// Takes `timeout` at most, and ends at once, with whatever error, when its task is cancelled.
  func connect() async throws(SignalError) -> SignalConnection {
    guard TokenText.isWellFormed(token) else { throw .malformedToken }
    let deadline = NIODeadline.now() + .nanoseconds(timeout.nanoseconds)
    let socket = socket(try SecureChannel.to(url, trusting: authorities))
    switch try await socket.open(until: deadline) {
    case .accepted(let connection): return connection
    case .refused(let status): throw await explain(status, socket, until: deadline)
    }
  }

  private func socket(_ security: SecureChannel?) -> WebSocketOpening<SignalConnection> {
    WebSocketOpening(
      url, head: head("rtc"), messageLimit: messageLimit, security: security, connectTimeout: connectTimeout
    ) { [opening, limit = joinTimeout ?? timeout, server = url.server] channel in
      try SignalConnection(channel: channel, state: SignalState(opening, at: .now, limit: limit), server: server)
    }
  }

  private func head(_ endpoint: String) -> HTTPRequestHead {
    url.request(
      url.path(endpoint, query),
      ["Content-Length": "0", "Authorization": "Bearer \(token)", "User-Agent": query.userAgent])
  }

  /// The server tells the reason as text when asked to validate the same join.
  private func explain(
    _ status: Int, _ socket: WebSocketOpening<SignalConnection>, until deadline: NIODeadline
  ) async -> SignalError {
    guard status != 200 else { return .notLiveKit(url.server) }
    let answer = try? await socket.untilClosed {
      let client = PlainHTTP(bootstrap: socket.bootstrap(until: deadline), url: url, prepare: socket.secure)
      return try await client.get(head("rtc/validate"), until: deadline)
    }
    guard let answer else { return .refused(status: status, reason: Self.noReason) }
    let reason = SignalError.shown(answer.body)
    if answer.status == 200 { return explainOfValidJoin(status) }
    if answer.status == 404 && !reason.contains("room") { return .notLiveKit(url.server) }
    return .refused(status: answer.status, reason: reason.isEmpty ? Self.noReason : reason)
  }

  /// The join is as it should be, so what came in its place is no answer of LiveKit's to it, or a server has failed:
  /// LiveKit's own with 500, also where the room is full, which it does not look at before, and a proxy with more.
  private func explainOfValidJoin(_ status: Int) -> SignalError {
    switch status {
    case ..<500: .refused(status: 426, reason: "HTTP \(status)")
    case 500: .refused(status: status, reason: "it takes the token, so perhaps the room is full (max_participants)")
    default: .refused(status: status, reason: Self.noReason)
    }
  }

  private static let noReason = "no reason given"
}

extension SignalURL {
  /// A GET of that path, with those headers and the one that names the server.
  func request(_ path: String, _ headers: HTTPHeaders) -> HTTPRequestHead {
    var headers = headers
    let isDefaultPort = port == (isSecure ? 443 : 80)
    headers.replaceOrAdd(name: "Host", value: isDefaultPort ? authority : server)
    return HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
  }
}
