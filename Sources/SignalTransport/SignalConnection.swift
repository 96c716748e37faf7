public import LiveKitProtocol
import MediaCore
import NIOCore

/// What one connection leaves to the one that resumes its session.
public struct SignalSuccession: Sendable {
  /// The token that the server sent for it; nil when the old one still holds. Secret.
  public var refreshedToken: String?
  /// How the join asked for pings; a resumed session is not told again.
  public var pings: PingSchedule?

  /// Without arguments: what a session begins with.
  public init(refreshedToken: String? = nil, pings: PingSchedule? = nil) {
    (self.refreshedToken, self.pings) = (refreshedToken, pings)
  }
}

/// One WebSocket to a LiveKit server: requests out, responses in. Pings and pongs are seen to in here.
public final class SignalConnection: Sendable {
  /// What the server sends, the join response first. Ends when the connection does; then `closeReason` says why.
  public let responses: AsyncStream<Livekit_SignalResponse>

  private let server: String
  private let channel: any Channel
  private let handler: NIOLoopBound<SignalHandler>
  private let reason: Locked<SignalError?>
  private let succession: Locked<SignalSuccession>

  /// Puts the handler that speaks the protocol into `channel`, on its event loop.
  init(channel: any Channel, state: SignalState, server: String) throws {
    let output: AsyncStream<Livekit_SignalResponse>.Continuation
    (responses, output) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(SignalHandler.waitingLimit))
    reason = Locked(nil)
    succession = Locked(SignalSuccession(pings: state.pings))
    let handler = SignalHandler(
      state: state, server: server, output: output, reason: reason, succession: succession)
    self.server = server
    self.channel = channel
    self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  /// Connects; whether the server lets us join is its first response.
  /// - Parameter token: sent as a header, so that no log of URLs has it.
  public static func connect(
    to url: SignalURL, token: String, query: SignalQuery
  ) async throws(SignalError) -> SignalConnection {
    try await SignalConnector(url: url, token: token, query: query, timeout: .seconds(10)).connect()
  }

  /// What the next connection of this session begins with.
  public var successor: SignalSuccession { succession.withLock { $0 } }

  /// Why the connection ended; nil while it stands or when this side ended it.
  public var closeReason: SignalError? { reason.withLock { $0 } }

  /// Sends, in the order of the calls; dropped when the connection has ended.
  public func send(_ request: Livekit_SignalRequest) {
    channel.eventLoop.execute { [handler] in handler.value.send(request) }
  }

  /// Sends, and returns once the request has left this process. What one actor sends leaves in the order of its calls,
  /// also while it still waits for earlier ones.
  nonisolated(nonsending) public func send(confirming request: Livekit_SignalRequest) async throws(SignalError) {
    let sent = channel.eventLoop.flatSubmit { [handler, channel] in
      handler.value.send(request) ?? channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
    }
    do { try await sent.get() } catch { throw closeReason ?? .lost(server, "it has ended") }
  }

  /// Ends the connection; returns when the server has closed it too, or after a second.
  public func close() async {
    channel.eventLoop.execute { [handler] in handler.value.close() }
    try? await channel.closeFuture.get()
  }
}
