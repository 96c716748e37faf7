import LiveKitProtocol
import MediaCore
import NIOCore
import NIOWebSocket
import SwiftProtobuf

/// Carries frames and time to `SignalState` and does what it says. Lives on its channel's event loop.
final class SignalHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// The largest message we take, in bytes. A room of a thousand participants joins with less than one MiB, but LiveKit's
  /// server lets each of them have 576 kB of metadata and attributes, which all who join are told.
  static let messageLimit = 64 << 20
  /// Frames that one message may come in; servers use one.
  static let fragmentLimit = 1024
  /// Messages that may wait for whoever reads them; dropping one would break the session, so more of them end it.
  static let waitingLimit = 4096
  /// How long the server may take to end a connection that we have closed.
  private static let closeLimit = TimeAmount.seconds(1)

  private let server: String
  private let output: AsyncStream<Livekit_SignalResponse>.Continuation
  private let reason: Locked<SignalError?>
  private let succession: Locked<SignalSuccession>
  private var state: SignalState
  private var context: ChannelHandlerContext?
  private var timer: Scheduled<Void>?
  private var scheduled: MediaTime?
  /// Our close frame on its way.
  private var closing: EventLoopFuture<Void>?

  init(
    state: SignalState, server: String, output: AsyncStream<Livekit_SignalResponse>.Continuation,
    reason: Locked<SignalError?>, succession: Locked<SignalSuccession>
  ) {
    (self.state, self.server, self.output, self.reason) = (state, server, output, reason)
    self.succession = succession
  }

  // MARK: Events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    schedule()
  }

  /// A connection that ended while it was upgraded shows itself only by this.
  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    perform(state.failed(.broken(Self.cut)))
    endOutput()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .binary: receive(Array(frame.unmaskedData.readableBytesView))
    case .text: perform(state.receiveText())
    case .ping: write(.pong, frame.unmaskedData)
    case .connectionClose:
      perform(state.failed(.closed(Self.reason(frame))))
      closing?.whenComplete { [channel = context.channel] _ in channel.close(promise: nil) }
    default: break
    }
  }

  private func receive(_ message: [UInt8]) {
    let actions = state.receive(message, at: .now)
    // Before whoever is handed the message could ask for it.
    succession.withLock { $0 = SignalSuccession(refreshedToken: state.refreshedToken, pings: state.pings) }
    perform(actions)
  }

  func channelInactive(context: ChannelHandlerContext) {
    perform(state.failed(.broken(Self.cut)))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    perform(state.failed(Self.failure(error)))
    context.close(promise: nil)
  }

  // MARK: Actions

  /// - Returns: when it has been written; nil when it cannot be.
  @discardableResult
  func send(_ request: Livekit_SignalRequest) -> EventLoopFuture<Void>? {
    guard let bytes = try? request.serializedBytes() as [UInt8] else { return nil }
    return write(.binary, ByteBuffer(bytes: bytes))
  }

  /// Ends from this side: nothing more is handed on, and what was sent still leaves.
  func close() {
    state.stop()
    endOutput()
  }

  private func perform(_ actions: [SignalState.Action]) {
    for action in actions {
      switch action {
      case .send(let request): send(request)
      case .deliver(let response): deliver(response)
      case .end(let failure):
        reason.withLock { $0 = SignalError(failure, server: server) }
        endOutput()
      }
    }
    schedule()
  }

  private func deliver(_ response: Livekit_SignalResponse) {
    guard case .dropped = output.yield(response) else { return }
    perform(state.failed(.broken("\(Self.waitingLimit) messages wait here, more than can be worked off")))
  }

  /// Says goodbye and leaves the end to the server: closing over data that we have not read would reset the connection,
  /// and what we sent last, a leave perhaps, would be lost on the way.
  private func endOutput() {
    output.finish()
    timer?.cancel()
    guard let context, context.channel.isActive, closing == nil else { return }
    let channel = context.channel
    let limit = context.eventLoop.scheduleTask(in: Self.closeLimit) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in limit.cancel() }
    closing = write(.connectionClose, ByteBuffer(bytes: [0x03, 0xe8]))
  }

  @discardableResult
  private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> EventLoopFuture<Void>? {
    guard let context else { return nil }
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    return context.writeAndFlush(wrapOutboundOut(frame))
  }

  /// One timer, for the next thing that the state waits for; most messages do not change it.
  private func schedule() {
    guard state.nextDeadline != scheduled else { return }
    timer?.cancel()
    scheduled = state.nextDeadline
    guard let context, let deadline = scheduled else { return }
    let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: .nanoseconds(max(0, (deadline - .now).nanoseconds))) {
      handler.value.scheduled = nil
      handler.value.perform(handler.value.state.poll(at: .now))
    }
  }

  // MARK: What frames and errors mean

  private static let cut = "it was cut off"

  private static func reason(_ frame: WebSocketFrame) -> String {
    var data = frame.unmaskedData
    let code = data.readWebSocketErrorCode()
    let text = data.readString(length: data.readableBytes) ?? ""
    return text.isEmpty ? code.map { "\($0)" } ?? "no reason given" : text
  }

  private static func failure(_ error: any Error) -> SignalFailure {
    switch error {
    case NIOWebSocketError.invalidFrameLength, NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge,
      NIOWebSocketFrameAggregator.Error.tooManyFragments:
      .unreadable("a message of more than \(messageLimit >> 20) MiB or \(fragmentLimit) fragments")
    case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error: .unreadable("broken WebSocket frames")
    case is IOError: .broken(cut)
    case let error as TLSFailure: .broken("TLS failed: \(error.reason(host: "the server"))")
    default: .broken("\(error)")
    }
  }
}
