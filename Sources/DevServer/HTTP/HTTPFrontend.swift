import LiveKitProtocol
import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import PeerTransport

/// The server's port: plain answers, and WebSockets for those who may join.
struct HTTPFrontend: Sendable {
  let configuration: DevServerConfiguration
  let loop: TransportLoop
  let rooms: LoopBound<RoomRegistry>

  func bind() async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try configure(channel) }
      }
      .bind(host: configuration.host, port: configuration.port).get()
  }

  private func configure(_ channel: any Channel) throws {
    let request = NIOLoopBoundBox<JoinRequest?>(nil, eventLoop: channel.eventLoop)
    let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
      maxFrameSize: 1 << 20,
      shouldUpgrade: { channel, head in
        guard Self.path(head) == "/rtc" else { return channel.eventLoop.makeSucceededFuture(nil) }
        return channel.eventLoop.makeFutureWithTask { [configuration] in
          try? await JoinRequest(head, configuration: configuration)
        }.map { accepted in
          request.value = accepted
          return accepted == nil ? nil : HTTPHeaders()
        }
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          guard let accepted = request.value else { return }
          try join(accepted, channel)
        }
      })
    let upgrade = NIOTypedHTTPServerUpgradeConfiguration(upgraders: [upgrader]) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(PlainResponder(configuration: configuration))
      }
    }
    _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
      configuration: .init(upgradeConfiguration: upgrade))
  }

  private func join(_ request: JoinRequest, _ channel: any Channel) throws {
    let socket = ClientSocket(channel: channel)
    let handler = ClientSocketHandler(
      onRequest: { [loop, rooms] message in loop.post { rooms.value.receive(message, from: socket) } },
      onClose: { [loop, rooms] in loop.post { rooms.value.socketClosed(socket) } })
    try channel.pipeline.syncOperations.addHandler(handler)
    loop.post { [rooms] in rooms.value.join(request, socket) }
  }

  static func path(_ head: HTTPRequestHead) -> String {
    String(head.uri.prefix { $0 != "?" })
  }
}

/// Answers what is not a WebSocket: the health page, the validation of a join, and the reason of a refused one.
private final class PlainResponder: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let configuration: DevServerConfiguration
  init(configuration: DevServerConfiguration) { self.configuration = configuration }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.makeFutureWithTask { [configuration] in await Self.answer(head, configuration) }
      .whenSuccess { status, text in Self.write(status, text, bound.value) }
  }

  private static func answer(
    _ head: HTTPRequestHead, _ configuration: DevServerConfiguration
  ) async -> (HTTPResponseStatus, String) {
    switch HTTPFrontend.path(head) {
    case "/": return (.ok, "OK")
    case "/rtc/validate", "/rtc":
      do throws(JoinRefusal) {
        _ = try await JoinRequest(head, configuration: configuration)
        return (.ok, "success")
      } catch {
        return (error.status, error.reason)
      }
    default: return (.notFound, "404 page not found")
    }
  }

  private static func write(_ status: HTTPResponseStatus, _ text: String, _ context: ChannelHandlerContext) {
    let body = context.channel.allocator.buffer(string: text + "\n")
    let headers: HTTPHeaders = [
      "Content-Type": "text/plain; charset=utf-8", "Content-Length": "\(body.readableBytes)", "Connection": "close",
    ]
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
    context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(body))), promise: nil)
    let channel = context.channel
    context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
