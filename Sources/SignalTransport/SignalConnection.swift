public import LiveKitProtocol
import MediaCore
import NIOCore
import NIOPosix
import NIOWebSocket
import SwiftProtobuf

/// One WebSocket to a LiveKit server: requests out, responses in. Ping and pong are answered here.
public final class SignalConnection: Sendable {
  /// What the server sends, the join response first. Ends when the connection does; then `closeReason` says why.
  public let responses: AsyncStream<Livekit_SignalResponse>

  private let channel: any Channel
  private let reason: Locked<SignalError?>

  init(channel: any Channel, responses: AsyncStream<Livekit_SignalResponse>, reason: Locked<SignalError?>) {
    self.channel = channel
    self.responses = responses
    self.reason = reason
  }

  /// Connects and joins.
  /// - Parameter token: sent as a header, so that no log of URLs has it.
  public static func connect(
    to url: SignalURL, token: String, query: SignalQuery, timeout: Duration = .seconds(10)
  ) async throws(SignalError) -> SignalConnection {
    try await SignalConnector(url: url, token: token, query: query, timeout: timeout).connect()
  }

  /// Why the connection ended; nil while it stands or when this side ended it.
  public var closeReason: SignalError? { reason.withLock { $0 } }

  public func send(_ request: Livekit_SignalRequest) {
    guard let bytes = try? request.serializedBytes() as [UInt8] else { return }
    let channel = channel
    channel.eventLoop.execute {
      let frame = WebSocketFrame(
        fin: true, opcode: .binary, maskKey: .random(), data: channel.allocator.buffer(bytes: bytes))
      channel.writeAndFlush(frame, promise: nil)
    }
  }

  /// Closes the socket once what was sent has left; returns when it is closed.
  public func close() async {
    reason.withLock { _ in }
    let channel = channel
    channel.eventLoop.execute {
      let frame = WebSocketFrame(
        fin: true, opcode: .connectionClose, maskKey: .random(),
        data: channel.allocator.buffer(bytes: [0x03, 0xe8]))
      channel.writeAndFlush(frame).whenComplete { _ in channel.close(promise: nil) }
    }
    try? await channel.closeFuture.get()
  }
}
