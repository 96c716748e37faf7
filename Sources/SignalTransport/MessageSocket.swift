import Foundation
import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket to a server of any kind, to which messages are sent; what it sends back is passed over.
public final class MessageSocket: Sendable {
  private let channel: any Channel
  private let server: String

  private init(_ channel: any Channel, server: String) { (self.channel, self.server) = (channel, server) }

  /// What a server says to us is short.
  private static let messageLimit = 1 << 16

  /// Takes `timeout` at most.
  /// - Parameters:
  ///   - address: `ws` or `wss`, with path and query.
  ///   - headers: of the request, by name.
  public static func open(
    _ address: String, headers: [String: String] = [:], timeout: Duration = .seconds(10)
  ) async throws(SignalError) -> MessageSocket {
    let url = try SignalURL(address)
    let parts = URLComponents(string: address)
    let path = (parts?.percentEncodedPath).flatMap { $0.isEmpty ? nil : $0 } ?? "/"
    let head = url.request(
      path + (parts?.percentEncodedQuery.map { "?" + $0 } ?? ""), HTTPHeaders(headers.map { ($0.key, $0.value) }))
    let security = try SecureChannel.to(url, trusting: .ofProcess)
    let opening = WebSocketOpening(url, head: head, messageLimit: messageLimit, security: security) { channel in
      try channel.pipeline.syncOperations.addHandler(MessageSocketHandler())
      return MessageSocket(channel, server: url.server)
    }
    switch try await opening.open(until: .now() + .nanoseconds(timeout.nanoseconds)) {
    case .accepted(let socket): return socket
    case .refused(let status): throw .refused(status: status, reason: "it takes no WebSocket there")
    }
  }

  /// Waits until it is on its way, which a server that reads nothing may hold up; not to be called on an event loop.
  public func send(_ bytes: [UInt8]) throws(SignalError) { try send(.binary, ByteBuffer(bytes: bytes)) }
  /// As for bytes.
  public func send(text: String) throws(SignalError) { try send(.text, ByteBuffer(string: text)) }

  private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer) throws(SignalError) {
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    do { try channel.writeAndFlush(frame).wait() } catch {
      throw .lost(server, (error as? SignalError)?.description ?? "it was cut off")
    }
  }

  /// Ends it; whoever sends is not held up any more.
  public func close() { channel.close(promise: nil) }

  private static let closeLimit = TimeAmount.seconds(3)

  /// Says goodbye, so that the server knows that all was sent, and waits a while for its answer: a socket that is closed with
  /// something unread loses what is on its way. Not to be called on an event loop.
  public func finish() {
    let code = ByteBuffer(bytes: [0x03, 0xe8])
    channel.writeAndFlush(
      WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: code), promise: nil)
    let limit = channel.eventLoop.scheduleTask(in: Self.closeLimit) { [channel] in channel.close(promise: nil) }
    try? channel.closeFuture.wait()
    limit.cancel()
  }
}

/// Answers pings, and asks now and then whether the server is there, as LiveKit Egress does.
private final class MessageSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private static let interval = TimeAmount.seconds(30)
  private var pings: RepeatedTask?
  private var isAsked = false

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    pings = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
      let (handler, context) = bound.value
      // One that vanished without a word.
      guard !handler.isAsked else { return context.close(promise: nil) }
      handler.isAsked = true
      Self.write(.ping, ByteBuffer(), context)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { pings?.cancel() }
  func channelInactive(context: ChannelHandlerContext) {
    pings?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .pong: isAsked = false
    case .ping: Self.write(.pong, frame.unmaskedData, context)
    case .connectionClose: context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private static func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    context.writeAndFlush(NIOAny(frame), promise: nil)
  }
}
