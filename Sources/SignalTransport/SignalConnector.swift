import LiveKitProtocol
import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// Opens the socket, secures it, upgrades it, and finds out why when the server refuses.
struct SignalConnector {
  let url: SignalURL
  let token: String
  let query: SignalQuery
  let timeout: Duration
  var opening = SignalState.Opening.join
  var trustRoots = SecureChannel.usualTrustRoots
  /// For the server's first message after the upgrade; nil means `timeout` once more.
  var joinTimeout: Duration?

  private enum Upgrade: Sendable {
    case joined(SignalConnection)
    case refused(Int)
  }

  private let sockets = OpenSockets()

  /// Takes `timeout` at most, and ends at once, with whatever error, when its task is cancelled.
  func connect() async throws(SignalError) -> SignalConnection {
    guard TokenText.isWellFormed(token) else { throw .malformedToken }
    let outcome: Result<SignalConnection, SignalError> = await withTaskCancellationHandler {
      do throws(SignalError) { return .success(try await attempt()) } catch { return .failure(error) }
    } onCancel: {
      sockets.close()
    }
    return try outcome.get()
  }

  private func attempt() async throws(SignalError) -> SignalConnection {
    let deadline = NIODeadline.now() + limit
    let outcome: Upgrade
    do {
      outcome = try await bootstrap(until: deadline).connect(host: url.host, port: url.port) { channel in
        channel.eventLoop.makeCompletedFuture { try upgrade(channel, until: deadline) }
      }.get()
    } catch {
      throw await translate(error, until: deadline)
    }
    switch outcome {
    case .joined(let connection): return connection
    case .refused(let status): throw await explain(status, until: deadline)
    }
  }

  private var limit: TimeAmount { .nanoseconds(timeout.nanoseconds) }

  private func bootstrap(until deadline: NIODeadline) -> ClientBootstrap {
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(max(deadline - .now(), .milliseconds(1)))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { [sockets] in sockets.add($0) }
  }

  private var security: SecureChannel { SecureChannel(host: url.host, trustRoots: trustRoots) }

  private func secure(_ channel: any Channel) throws {
    if url.isSecure { try security.addHandler(to: channel) }
  }

  // MARK: Upgrade

  private func head(_ endpoint: String) -> HTTPRequestHead {
    let isDefaultPort = url.port == (url.isSecure ? 443 : 80)
    return HTTPRequestHead(
      version: .http1_1, method: .GET, uri: url.path(endpoint, query),
      headers: [
        "Host": isDefaultPort ? url.authority : url.server, "Content-Length": "0", "Authorization": "Bearer \(token)",
        "User-Agent": query.userAgent,
      ])
  }

  private func upgrade(_ channel: any Channel, until deadline: NIODeadline) throws -> EventLoopFuture<Upgrade> {
    try secure(channel)
    let status = NIOLoopBoundBox(0, eventLoop: channel.eventLoop)
    let configuration = NIOTypedHTTPClientUpgradeConfiguration(
      upgradeRequestHead: head("rtc"), upgraders: [upgrader()]
    ) { channel in
      channel.close(promise: nil)
      return channel.eventLoop.makeSucceededFuture(.refused(status.value))
    }
    var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
    pipeline.leftOverBytesStrategy = .forwardBytes
    let upgrade = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    try channel.pipeline.syncOperations.addHandler(
      StatusRecorder(status: status),
      position: .after(
        channel.pipeline.syncOperations.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)))
    let timer = channel.eventLoop.scheduleTask(deadline: deadline) { [server = url.server] in
      channel.pipeline.fireErrorCaught(SignalError.timedOut(server))
      channel.close(promise: nil)
    }
    return upgrade.always { result in
      timer.cancel()
      if case .failure = result { channel.close(promise: nil) }
    }
  }

  private func upgrader() -> NIOTypedWebSocketClientUpgrader<Upgrade> {
    NIOTypedWebSocketClientUpgrader(
      maxFrameSize: SignalHandler.messageLimit, enableAutomaticErrorHandling: false
    ) { [opening, limit = joinTimeout ?? timeout, server = url.server] channel, _ in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: SignalHandler.fragmentLimit,
            maxAccumulatedFrameSize: SignalHandler.messageLimit))
        let state = SignalState(opening, at: .now, limit: limit)
        return .joined(try SignalConnection(channel: channel, state: state, server: server))
      }
    }
  }

  // MARK: Why it failed

  /// The server tells the reason as text when asked to validate the same join.
  private func explain(_ status: Int, until deadline: NIODeadline) async -> SignalError {
    guard status != 200 else { return .notLiveKit(url.server) }
    let client = PlainHTTP(bootstrap: bootstrap(until: deadline), url: url, prepare: secure)
    guard let answer = try? await client.get(head("rtc/validate"), until: deadline) else {
      return .refused(status: status, reason: "no reason given")
    }
    let reason = SignalError.shown(answer.body)
    if answer.status == 404 && !reason.contains("room") { return .notLiveKit(url.server) }
    return .refused(
      status: answer.status == 200 ? status : answer.status, reason: reason.isEmpty ? "no reason given" : reason)
  }

  private func translate(_ error: any Error, until deadline: NIODeadline) async -> SignalError {
    switch error {
    case let error as SignalError: return error
    case let error as NIOConnectionError:
      if error.dnsAError != nil && error.connectionErrors.isEmpty { return .unresolvedHost(url.host) }
      let isTimeout = error.connectionErrors.contains { $0.error is ChannelError }
      return isTimeout ? .timedOut(url.server) : .connectionRefused(url.server)
    case _ where SecureChannel.isRefusal(error):
      let reason = await security.explain(
        error, port: url.port, bootstrap: bootstrap(until: deadline), until: deadline)
      return .tls(host: url.host, reason: reason)
    case ChannelError.connectTimeout: return .timedOut(url.server)
    // With these the upgrade handler and the pipeline say that the connection ended under them.
    case is ChannelError: return .lost(url.server, "it was closed before the join was answered")
    case is HTTPParserError, is NIOHTTPClientUpgradeError: return .notLiveKit(url.server)
    case let error as IOError where error.errnoCode == ECONNREFUSED: return .connectionRefused(url.server)
    case is IOError: return .lost(url.server, "it was cut off before the join was answered")
    default: return .lost(url.server, "\(error)")
    }
  }
}

/// The sockets that an attempt to connect has opened, to be closed when it is given up.
private final class OpenSockets: Sendable {
  /// Nil once they are closed.
  private let channels = Locked<[any Channel]?>([])

  func add(_ channel: any Channel) -> EventLoopFuture<Void> {
    let isWanted = channels.withLock { channels in
      channels?.append(channel)
      return channels != nil
    }
    return isWanted
      ? channel.eventLoop.makeSucceededVoidFuture() : channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
  }

  func close() {
    let open = channels.withLock { channels in
      defer { channels = nil }
      return channels ?? []
    }
    for channel in open { channel.close(promise: nil) }
  }
}

/// Notes the status of the answer to an upgrade; the upgrade handler itself keeps it to itself.
private final class StatusRecorder: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias InboundOut = HTTPClientResponsePart
  private let status: NIOLoopBoundBox<Int>

  init(status: NIOLoopBoundBox<Int>) { self.status = status }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head(let head) = unwrapInboundIn(data) { status.value = Int(head.status.code) }
    context.fireChannelRead(data)
    // After the head of the answer its work is done; what follows may be frames, which it cannot read.
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
