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

  private var group: any EventLoopGroup { MultiThreadedEventLoopGroup.singleton }
  private var limit: TimeAmount { .nanoseconds(timeout.nanoseconds) }

  func connect() async throws(SignalError) -> SignalConnection {
    let outcome: Upgrade
    do {
      let upgrade = try await bootstrap().connect(host: url.host, port: url.port) { channel in
        channel.eventLoop.makeCompletedFuture { try self.configureUpgrade(channel) }
      }
      outcome = try await within(limit, upgrade)
    } catch {
      throw translate(error)
    }
    switch outcome {
    case .joined(let connection): return connection
    case .refused(let status): throw await explain(status)
    }
  }

  private enum Upgrade: Sendable {
    case joined(SignalConnection)
    case refused(Int)
  }

  private func bootstrap() -> ClientBootstrap {
    ClientBootstrap(group: group).connectTimeout(limit).channelOption(.tcpOption(.tcp_nodelay), value: 1)
  }

  /// Fails `future` when it takes longer than `limit`, and closes nothing: the channel ends with its connect.
  private func within(_ limit: TimeAmount, _ future: EventLoopFuture<Upgrade>) async throws -> Upgrade {
    let promise = future.eventLoop.makePromise(of: Upgrade.self)
    let timer = future.eventLoop.scheduleTask(in: limit) { promise.fail(SignalError.timedOut(url.server)) }
    future.whenComplete { result in
      timer.cancel()
      promise.completeWith(result)
    }
    return try await promise.futureResult.get()
  }

  private func addTLS(to channel: any Channel) throws {
    guard url.isSecure else { return }
    let context = try NIOSSLContext(configuration: .makeClientConfiguration())
    // A bare address has no name to send along, and NIOSSL refuses one.
    let isAddress = (try? SocketAddress(ipAddress: url.host, port: 0)) != nil
    let handler = try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : url.host)
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  private var hostHeader: String {
    let isDefault = url.port == (url.isSecure ? 443 : 80)
    return isDefault ? url.hostInURL : url.server
  }

  private func head(_ endpoint: String) -> HTTPRequestHead {
    HTTPRequestHead(
      version: .http1_1, method: .GET, uri: url.path(endpoint, query),
      headers: ["Host": hostHeader, "Content-Length": "0", "Authorization": "Bearer \(token)"])
  }

  private func configureUpgrade(_ channel: any Channel) throws -> EventLoopFuture<Upgrade> {
    try addTLS(to: channel)
    let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(maxFrameSize: SignalHandler.messageLimit) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let reason = Locked<SignalError?>(nil)
        let (responses, output) = AsyncStream.makeStream(of: Livekit_SignalResponse.self)
        try channel.pipeline.syncOperations.addHandler(SignalHandler(output: output, reason: reason))
        return .joined(SignalConnection(channel: channel, responses: responses, reason: reason))
      }
    }
    let status = NIOLoopBoundBox(500, eventLoop: channel.eventLoop)
    let configuration = NIOTypedHTTPClientUpgradeConfiguration(
      upgradeRequestHead: head("rtc"), upgraders: [upgrader]
    ) { channel in
      channel.close(promise: nil)
      return channel.eventLoop.makeSucceededFuture(.refused(status.value))
    }
    var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
    pipeline.leftOverBytesStrategy = .forwardBytes
    let upgrade = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    try channel.pipeline.syncOperations.addHandler(
      StatusRecorder(status: status),
      position: .after(channel.pipeline.syncOperations.handler(type: HTTPResponseDecoderHandler.self)))
    return upgrade
  }

  private typealias HTTPResponseDecoderHandler = ByteToMessageHandler<HTTPResponseDecoder>

  /// The server tells the reason as text when asked to validate the same join.
  private func explain(_ status: Int) async -> SignalError {
    guard status != 200 else { return .notLiveKit(url.server) }
    let client = PlainHTTP(bootstrap: bootstrap(), url: url, prepare: addTLS)
    guard let answer = try? await client.get(head("rtc/validate"), within: limit) else {
      return .refused(status: status, reason: "no reason given")
    }
    let reason = answer.body.split(separator: "\n").first.map(String.init) ?? ""
    if answer.status == 404 && !reason.contains("room") { return .notLiveKit(url.server) }
    let status = answer.status == 200 ? status : answer.status
    return .refused(status: status, reason: reason.isEmpty ? "no reason given" : reason)
  }

  private static func explain(_ text: String) -> String {
    if text.contains("CERTIFICATE_VERIFY_FAILED") {
      return "its certificate is not trusted here; add its CA to this machine's trusted certificates"
    }
    if text.contains("WRONG_VERSION_NUMBER") { return "what answers does not speak TLS; use ws:// if that is wanted" }
    return text
  }

  private func translate(_ error: any Error) -> SignalError {
    switch error {
    case let error as SignalError: return error
    case let error as NIOConnectionError:
      if error.dnsAError != nil && error.connectionErrors.isEmpty { return .unresolvedHost(url.host) }
      let isTimeout = error.connectionErrors.contains { $0.error is ChannelError }
      return isTimeout ? .timedOut(url.server) : .connectionRefused(url.server)
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
      return .tls(host: url.host, reason: Self.explain("\(error)"))
    case is ChannelError: return .timedOut(url.server)
    case is HTTPParserError: return .notLiveKit(url.server)
    case let error as IOError:
      return error.errnoCode == ECONNREFUSED ? .connectionRefused(url.server) : .closed("\(url.server): \(error)")
    default: return .closed("\(error)")
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
