import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Opens the socket, secures it, and upgrades it.
struct WebSocketOpening<Accepted: Sendable>: Sendable {
  enum Outcome: Sendable {
    case accepted(Accepted)
    /// With that HTTP status.
    case refused(Int)
  }

  let url: SignalURL
  let head: HTTPRequestHead
  let messageLimit: Int
  /// Nil where there is none.
  let security: SecureChannel?
  /// For TCP to one address; nil for no other limit than that of all.
  let connectTimeout: Duration?
  /// Puts what reads and writes messages into a channel that was upgraded.
  let accept: @Sendable (any Channel) throws -> Accepted
  private let sockets = OpenSockets()

  /// - Parameters:
  ///   - head: of the request.
  ///   - messageLimit: bytes of the largest message that is taken.
  init(
    _ url: SignalURL, head: HTTPRequestHead, messageLimit: Int, security: SecureChannel?,
    connectTimeout: Duration? = nil, accept: @escaping @Sendable (any Channel) throws -> Accepted
  ) {
    (self.url, self.head, self.messageLimit) = (url, head, messageLimit)
    (self.security, self.connectTimeout, self.accept) = (security, connectTimeout, accept)
  }

  /// Ends at once, with whatever error, when its task is cancelled.
  func open(until deadline: NIODeadline) async throws(SignalError) -> Outcome {
    do { return try await untilClosed { try await connect(until: deadline) } } catch {
      throw SignalError(opening: error, host: url.host, server: url.server)
    }
  }

  /// What `work` makes with sockets of `bootstrap`; an error at once where its task is cancelled before.
  func untilClosed<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withTaskCancellationHandler {
      try await sockets.untilClosed(work)
    } onCancel: {
      close()
    }
  }

  /// Ends what is under way.
  func close() { sockets.close() }

  private func connect(until deadline: NIODeadline) async throws -> Outcome {
    try await bootstrap(until: deadline).connect(host: url.host, port: url.port) { channel in
      channel.eventLoop.makeCompletedFuture { try upgrade(channel, until: deadline) }
    }.get()
  }

  func bootstrap(until deadline: NIODeadline) -> ClientBootstrap {
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      // With the look-up of the name, for which the system may ask several servers in turn.
      .connectTimeout(max(deadline - .now(), .milliseconds(1)))
      .channelOption(.connectTimeout, value: connectTimeout.map { TimeAmount.nanoseconds($0.nanoseconds) })
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { [sockets] in sockets.add($0) }
  }

  func secure(_ channel: any Channel) throws { try security?.addHandler(to: channel) }

  // MARK: Upgrade

  private func upgrade(_ channel: any Channel, until deadline: NIODeadline) throws -> EventLoopFuture<Outcome> {
    try secure(channel)
    let status = NIOLoopBoundBox(0, eventLoop: channel.eventLoop)
    let configuration = NIOTypedHTTPClientUpgradeConfiguration(
      upgradeRequestHead: head, upgraders: [upgrader()]
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

  private func upgrader() -> NIOTypedWebSocketClientUpgrader<Outcome> {
    NIOTypedWebSocketClientUpgrader(maxFrameSize: messageLimit, enableAutomaticErrorHandling: false) {
      [accept, messageLimit] channel, _ in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: SignalHandler.fragmentLimit,
            maxAccumulatedFrameSize: messageLimit))
        return .accepted(try accept(channel))
      }
    }
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
