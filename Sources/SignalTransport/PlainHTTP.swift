import NIOCore
import NIOHTTP1
import NIOPosix

/// One GET whose answer is a short text.
struct PlainHTTP {
  struct Answer: Sendable {
    var status: Int
    var body: String
  }

  let bootstrap: ClientBootstrap
  let url: SignalURL
  let prepare: @Sendable (any Channel) throws -> Void

  func get(_ head: HTTPRequestHead, until deadline: NIODeadline) async throws -> Answer {
    let prepare = prepare
    let (channel, answer) = try await bootstrap.connect(host: url.host, port: url.port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try prepare(channel)
        try channel.pipeline.syncOperations.addHTTPClientHandlers()
        let promise = channel.eventLoop.makePromise(of: Answer.self)
        try channel.pipeline.syncOperations.addHandler(AnswerCollector(promise: promise))
        return (channel, promise.futureResult)
      }
    }
    let timer = channel.eventLoop.scheduleTask(deadline: deadline) { channel.close(promise: nil) }
    defer { timer.cancel() }
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    let result = try await answer.get()
    channel.close(promise: nil)
    return result
  }
}

private final class AnswerCollector: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private static let bodyLimit = 4096
  private let promise: EventLoopPromise<PlainHTTP.Answer>
  private var status = 0
  private var body = ""

  init(promise: EventLoopPromise<PlainHTTP.Answer>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): status = Int(head.status.code)
    case .body(let buffer): if body.utf8.count < Self.bodyLimit { body += String(buffer: buffer) }
    case .end: promise.succeed(.init(status: status, body: body))
    }
  }

  /// The end of a channel that was connected and of one that never was.
  func handlerRemoved(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.close(promise: nil)
  }
}
