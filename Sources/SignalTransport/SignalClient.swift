import Foundation
public import LiveKitProtocol
import MediaCore

/// The signalling of one participant: one connection at a time, each of which may go on with the session of the one
/// before. Who subscribes and who publishes both speak through it.
public final class SignalClient: Sendable {
  private struct State {
    var tokens: SignalTokens
    /// How the newest join asked for pings.
    var pings: PingSchedule?
    var current: SignalConnection?
    /// The end of those before; nil where there were none.
    var closing: Task<Void, Never>?
  }

  /// Of the server.
  public let url: SignalURL
  private let timeout: Duration
  private let state: Locked<State>
  /// Where packets have vanished the system tries a connection again after 1, 3, 7 and 15 s: another attempt sooner
  /// finds the network that is back.
  private static let laterConnectTimeout = Duration.seconds(4)

  /// - Parameter timeout: for each connection, and once more for the answer to its join.
  public init(url: SignalURL, token: String, timeout: Duration = .seconds(10)) {
    (self.url, self.timeout) = (url, timeout)
    state = Locked(State(tokens: SignalTokens(token)))
  }

  /// Whether there is a connection to send on.
  public var isOpen: Bool { state.withLock { $0.current != nil } }

  /// Opens a connection, after the one before was closed. One caller at a time; cancelling its task ends it at once.
  /// - Parameter query: with `resumedSid` the session of the connection before goes on.
  public func open(_ query: SignalQuery) async throws(SignalError) {
    await close()
    do throws(SignalError) { try await connect(query) } catch {
      guard case .refused(401, _) = error, state.withLock({ $0.tokens.goBack(at: Date()) }) else { throw error }
      try await connect(query)
    }
  }

  private func connect(_ query: SignalQuery) async throws(SignalError) {
    let (token, pings, isLater) = state.withLock { ($0.tokens.newest, $0.pings, $0.closing != nil) }
    let connector = SignalConnector(
      url: url, token: token, query: query, timeout: timeout,
      opening: query.resumedSid == nil ? .join : .resume(pings),
      connectTimeout: isLater ? Self.laterConnectTimeout : nil)
    let connection = try await connector.connect()
    state.withLock { $0.current = connection }
  }

  /// Hands on what the server says, in order, until the connection ends or is retired.
  /// - Returns: why it has ended; nil when it was retired.
  nonisolated(nonsending) public func read(
    _ body: (Livekit_SignalResponse.OneOf_Message) async -> Void
  ) async -> SignalError? {
    guard let connection = state.withLock({ $0.current }) else { return nil }
    for await response in connection.responses {
      guard isCurrent(connection) else { return nil }
      if let message = response.message { await body(message) }
    }
    return isCurrent(connection) ? connection.closeReason ?? .closed("no reason given") : nil
  }

  private func isCurrent(_ connection: SignalConnection) -> Bool { state.withLock { $0.current === connection } }

  /// Sends if there is a connection.
  public func send(_ request: Livekit_SignalRequest) { state.withLock { $0.current }?.send(request) }

  /// Sends, and returns once the request has left this process. What one actor sends leaves in the order of its calls.
  nonisolated(nonsending) public func send(confirming request: Livekit_SignalRequest) async throws(SignalError) {
    guard let connection = state.withLock({ $0.current }) else { throw .lost(url.server, "it has ended") }
    try await connection.send(confirming: request)
  }

  /// Closes the connection and keeps what the next one needs of it; nothing more is heard of it.
  public func retire() {
    state.withLock { state in
      guard let connection = state.current else { return }
      let successor = connection.successor
      (state.current, state.pings) = (nil, successor.pings)
      if let token = successor.refreshedToken { state.tokens.renew(with: token) }
      state.closing = Task { [earlier = state.closing] in
        await earlier?.value
        await connection.close()
      }
    }
  }

  /// Returns when every connection has gone.
  public func close() async {
    retire()
    await state.withLock { $0.closing }?.value
  }
}
