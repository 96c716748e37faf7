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

  func bind(to address: SocketAddress) async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try configure(channel) }
      }
      .bind(to: address).get()
  }

  private func configure(_ channel: any Channel) throws {
    let request = NIOLoopBoundBox<JoinRequest?>(nil, eventLoop: channel.eventLoop)
    let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
      maxFrameSize: 1 << 20,
      shouldUpgrade: { [configuration] channel, head in
        guard Self.path(head) == "/rtc", let accepted = try? JoinRequest(head, configuration: configuration) else {
          // NIO leaves a refused upgrade without an answer, so it is given here.
          return PlainResponder.respond(to: head, configuration, on: channel).map { nil }
        }
        request.value = accepted
        return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
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
    Self.respond(to: head, configuration, on: context.channel).whenComplete { _ in }
  }

  static func respond(
    to head: HTTPRequestHead, _ configuration: DevServerConfiguration, on channel: any Channel
  ) -> EventLoopFuture<Void> {
    let (status, text) = answer(head, configuration)
    return write(status, text, channel)
  }

  /// As LiveKit's server, any page may ask: clients in browsers read why they are refused.
  private static let openToPages: HTTPHeaders = [
    "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*, Authorization", "Connection": "close",
  ]

  private static func answer(
    _ head: HTTPRequestHead, _ configuration: DevServerConfiguration
  ) -> (HTTPResponseStatus, String) {
    if head.method == .OPTIONS { return (.noContent, "") }
    switch HTTPFrontend.path(head) {
    case "/": return (.ok, "OK")
    case "/rtc/validate", "/rtc":
      do throws(JoinRefusal) {
        _ = try JoinRequest(head, configuration: configuration)
        return (.ok, "success")
      } catch {
        return (error.status, error.reason)
      }
    default: return (.notFound, "404 page not found")
    }
  }

  private static func write(
    _ status: HTTPResponseStatus, _ text: String, _ channel: any Channel
  ) -> EventLoopFuture<Void> {
    var headers = openToPages
    let body = channel.allocator.buffer(string: text + "\n")
    let hasBody = status.mayHaveResponseBody
    if hasBody {
      headers.add(name: "Content-Type", value: "text/plain; charset=utf-8")
      headers.add(name: "Content-Length", value: "\(body.readableBytes)")
    }
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if hasBody { channel.write(HTTPServerResponsePart.body(.byteBuffer(body)), promise: nil) }
    return channel.writeAndFlush(HTTPServerResponsePart.end(nil)).always { _ in channel.close(promise: nil) }
  }
}
