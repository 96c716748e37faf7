import LiveKitProtocol
import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import SwiftProtobuf

/// A server on a free port of this machine that does what a test says: answers, refuses, speaks frames or bytes.
final class ScriptedServer: Sendable {
  enum Script: Sendable {
    /// Answers every request with these, `/rtc/validate` among them; keys are paths.
    case http([String: (status: HTTPResponseStatus, body: String)])
    /// Takes every upgrade, then runs this on the channel's event loop.
    case webSocket(@Sendable (Socket) -> Void)
    /// Answers whatever it reads first with these bytes, and closes if told to. Nil: no answer.
    case bytes([UInt8]?, closes: Bool)
  }

  /// Stands for no answer at all, as in nginx.
  static let silence = HTTPResponseStatus.custom(code: 444, reasonPhrase: "")

  let port: Int
  private let channel: any Channel
  private let log: Locked<Log>

  struct Log {
    var requests: [HTTPRequestHead] = []
    var messages: [Livekit_SignalRequest] = []
    var accepted = 0
    var open = 0
  }

  init(_ script: Script, tls: ServerTLS? = nil) async throws {
    let log = Locked(Log())
    self.log = log
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      // Its port may be taken again while a connection is not over.
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        log.withLock { ($0.accepted, $0.open) = ($0.accepted + 1, $0.open + 1) }
        channel.closeFuture.whenComplete { _ in log.withLock { $0.open -= 1 } }
        return channel.eventLoop.makeCompletedFuture {
          if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeHandler()) }
          try Self.configure(channel, script, log)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  var requests: [HTTPRequestHead] { log.withLock { $0.requests } }
  var messages: [Livekit_SignalRequest] { log.withLock { $0.messages } }
  var openConnections: Int { log.withLock { $0.open } }
  var acceptedConnections: Int { log.withLock { $0.accepted } }

  func stop() async { try? await channel.close().get() }

  private static func configure(_ channel: any Channel, _ script: Script, _ log: Locked<Log>) throws {
    switch script {
    case .http(let answers):
      try channel.pipeline.syncOperations.configureHTTPServerPipeline()
      try channel.pipeline.syncOperations.addHandler(Responder(answers: answers, log: log))
    case .bytes(let bytes, let closes):
      try channel.pipeline.syncOperations.addHandler(ByteResponder(bytes: bytes, closes: closes))
    case .webSocket(let run):
      let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
        shouldUpgrade: { channel, head in
          log.withLock { $0.requests.append(head) }
          return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
        },
        upgradePipelineHandler: { channel, _ in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Receiver(log: log, script: run))
          }
        })
      let upgrade = NIOTypedHTTPServerUpgradeConfiguration(upgraders: [upgrader]) { channel in channel.close() }
      _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
        configuration: .init(upgradeConfiguration: upgrade))
    }
  }
}

/// What a script has in its hands: frames out to one client.
struct Socket: Sendable {
  let channel: any Channel

  func send(_ response: Livekit_SignalResponse) { send(.binary, (try? response.serializedBytes()) ?? []) }

  func send(_ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true) {
    channel.writeAndFlush(WebSocketFrame(fin: fin, opcode: opcode, data: ByteBuffer(bytes: bytes)), promise: nil)
  }

  func join(pingInterval: Int32 = 0, pingTimeout: Int32 = 0) {
    var response = Livekit_SignalResponse()
    response.join.participant.sid = "PA_me"
    response.join.pingInterval = pingInterval
    response.join.pingTimeout = pingTimeout
    send(response)
  }

  /// A message that is `count` bytes and some more long.
  static func large(_ count: Int) -> Livekit_SignalResponse {
    var response = Livekit_SignalResponse()
    response.roomUpdate.room.metadata = String(repeating: "x", count: count)
    return response
  }
}

private final class Receiver: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  private let log: Locked<ScriptedServer.Log>
  private let script: @Sendable (Socket) -> Void

  init(log: Locked<ScriptedServer.Log>, script: @escaping @Sendable (Socket) -> Void) {
    (self.log, self.script) = (log, script)
  }

  func handlerAdded(context: ChannelHandlerContext) { script(Socket(channel: context.channel)) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if frame.opcode == .connectionClose { return context.close(promise: nil) }
    guard frame.opcode == .binary,
      let request = try? Livekit_SignalRequest(serializedBytes: Array(frame.unmaskedData.readableBytesView))
    else { return }
    log.withLock { $0.messages.append(request) }
  }
}

private final class Responder: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart
  private let answers: [String: (status: HTTPResponseStatus, body: String)]
  private let log: Locked<ScriptedServer.Log>

  init(answers: [String: (status: HTTPResponseStatus, body: String)], log: Locked<ScriptedServer.Log>) {
    (self.answers, self.log) = (answers, log)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let request) = unwrapInboundIn(data) else { return }
    log.withLock { $0.requests.append(request) }
    let (status, text) = answers[String(request.uri.prefix { $0 != "?" })] ?? (.notFound, "404 page not found")
    guard status != ScriptedServer.silence else { return }
    let body = ByteBuffer(string: text)
    let headers: HTTPHeaders = ["Content-Length": "\(body.readableBytes)"]
    context.write(
      wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}

private final class ByteResponder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let bytes: [UInt8]?
  private let closes: Bool

  init(bytes: [UInt8]?, closes: Bool) { (self.bytes, self.closes) = (bytes, closes) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let bytes { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }
    if closes { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
