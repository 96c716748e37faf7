import LiveKitProtocol
import MediaCore
import NIOCore
import NIOWebSocket
import SwiftProtobuf

/// Puts frames together to messages and watches that the server is there. Lives on its channel's event loop.
final class SignalHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// The largest message we take; a room of a thousand participants joins with less.
  static let messageLimit = 8 << 20

  private let output: AsyncStream<Livekit_SignalResponse>.Continuation
  private let reason: Locked<SignalError?>
  private var message = ByteBuffer()
  private var isCollecting = false
  private var pingTask: RepeatedTask?
  private var timeoutTask: Scheduled<Void>?
  private var pingTimeout = TimeAmount.seconds(15)
  private var roundTrip: Int64 = 0

  init(output: AsyncStream<Livekit_SignalResponse>.Continuation, reason: Locked<SignalError?>) {
    self.output = output
    self.reason = reason
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .binary, .text, .continuation: collect(frame, context)
    case .ping: answer(frame, context)
    case .connectionClose: closed(frame, context)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    pingTask?.cancel()
    timeoutTask?.cancel()
    end(.closed("the connection broke"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(.closed("\(error)"))
    context.close(promise: nil)
  }

  private func collect(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
    if frame.opcode != .continuation { message.clear() }
    var data = frame.unmaskedData
    guard message.readableBytes + data.readableBytes <= Self.messageLimit else {
      end(.closed("a message of more than \(Self.messageLimit) bytes"))
      return context.close(promise: nil)
    }
    message.writeBuffer(&data)
    guard frame.fin else { return }
    // What we cannot read is newer than we are; the rest of the session does not depend on it.
    guard let response = try? Livekit_SignalResponse(serializedBytes: Array(message.readableBytesView)) else { return }
    message.clear()
    handle(response, context)
  }

  private func handle(_ response: Livekit_SignalResponse, _ context: ChannelHandlerContext) {
    switch response.message {
    case .join(let join): startPinging(join, context)
    case .pongResp(let pong):
      gotPong()
      roundTrip = max(0, Self.milliseconds - pong.lastPingTimestamp)
      return
    case .pong:
      gotPong()
      return
    default: break
    }
    output.yield(response)
  }

  private func answer(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
    let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
    context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
  }

  private func closed(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
    var data = frame.unmaskedData
    let code = data.readWebSocketErrorCode()
    let text = data.readString(length: data.readableBytes) ?? ""
    end(.closed(text.isEmpty ? code.map { "\($0)" } ?? "no reason given" : text))
    context.close(promise: nil)
  }

  private func end(_ error: SignalError) {
    reason.withLock { if $0 == nil { $0 = error } }
    output.finish()
  }

  // MARK: Ping

  private static var milliseconds: Int64 { MediaTime.now.nanoseconds / 1_000_000 }

  private func startPinging(_ join: Livekit_JoinResponse, _ context: ChannelHandlerContext) {
    guard join.pingInterval > 0 else { return }
    if join.pingTimeout > 0 { pingTimeout = .seconds(Int64(join.pingTimeout)) }
    let interval = TimeAmount.seconds(Int64(join.pingInterval))
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    pingTask = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
      bound.value.handler.ping(bound.value.context)
    }
  }

  private func gotPong() {
    timeoutTask?.cancel()
    timeoutTask = nil
  }

  private func ping(_ context: ChannelHandlerContext) {
    var request = Livekit_SignalRequest()
    request.pingReq.timestamp = Self.milliseconds
    request.pingReq.rtt = roundTrip
    guard let bytes = try? request.serializedBytes() as [UInt8] else { return }
    let frame = WebSocketFrame(
      fin: true, opcode: .binary, maskKey: .random(), data: context.channel.allocator.buffer(bytes: bytes))
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    // A ping may be due before the answer to the last one is: the first one without an answer counts.
    guard timeoutTask == nil else { return }
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    timeoutTask = context.eventLoop.scheduleTask(in: pingTimeout) {
      bound.value.handler.end(.closed("the server no longer answers"))
      bound.value.context.close(promise: nil)
    }
  }
}
