import LiveKitProtocol
import NIOCore
import NIOWebSocket
import SwiftProtobuf

/// The way back to one client.
final class ClientSocket: Sendable {
  private let channel: any Channel

  init(channel: any Channel) { self.channel = channel }

  func send(_ response: Livekit_SignalResponse) {
    guard let bytes = try? response.serializedBytes() as [UInt8] else { return }
    let channel = channel
    channel.eventLoop.execute {
      let frame = WebSocketFrame(fin: true, opcode: .binary, data: channel.allocator.buffer(bytes: bytes))
      channel.writeAndFlush(frame, promise: nil)
    }
  }

  /// Ends without a word.
  func cut() { channel.close(promise: nil) }

  /// Closes once what was sent has left.
  func close() {
    let channel = channel
    channel.eventLoop.execute {
      let frame = WebSocketFrame(
        fin: true, opcode: .connectionClose, data: channel.allocator.buffer(bytes: [0x03, 0xe8]))
      channel.writeAndFlush(frame).whenComplete { _ in channel.close(promise: nil) }
    }
  }
}

/// Puts a client's frames together to requests.
final class ClientSocketHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private static let messageLimit = 1 << 20
  private let onRequest: @Sendable (Livekit_SignalRequest) -> Void
  private let onClose: @Sendable () -> Void
  private var message = ByteBuffer()

  init(
    onRequest: @escaping @Sendable (Livekit_SignalRequest) -> Void, onClose: @escaping @Sendable () -> Void
  ) {
    self.onRequest = onRequest
    self.onClose = onClose
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .binary, .text, .continuation: collect(frame, context)
    case .ping:
      let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose: context.close(promise: nil)
    default: break
    }
  }

  private func collect(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
    if frame.opcode != .continuation { message.clear() }
    var data = frame.unmaskedData
    guard message.readableBytes + data.readableBytes <= Self.messageLimit else { return context.close(promise: nil) }
    message.writeBuffer(&data)
    guard frame.fin else { return }
    if let request = try? Livekit_SignalRequest(serializedBytes: Array(message.readableBytesView)) {
      onRequest(request)
    }
    message.clear()
  }

  func channelInactive(context: ChannelHandlerContext) {
    onClose()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
