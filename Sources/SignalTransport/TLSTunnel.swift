package import MediaCore
import NIOCore
import NIOPosix

/// A way by TLS to one server for what only speaks TCP, as libnice does with TURN servers: whoever connects to a port of
/// this machine gets a connection of its own to the server, once that has shown who it is. Ends with its last owner.
package final class TLSTunnel: Sendable {
  /// Loopback addresses with their port, one of each family that this machine has; none where it cannot listen.
  package let endpoints: [(address: String, port: UInt16)]
  private let target: TunnelTarget
  private let listeners: [any Channel]

  /// Blocks until it listens, so never on an event loop. The server is not asked before somebody connects.
  package init(to host: String, port: UInt16, trusting authorities: NamedAuthorities = .ofProcess) {
    let target = TunnelTarget(host: host, port: port, authorities: authorities)
    self.target = target
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { near in
        target.connect(near)
        return near.eventLoop.makeSucceededVoidFuture()
      }
    listeners = ["127.0.0.1", "::1"].compactMap { try? bootstrap.bind(host: $0, port: 0).wait() }
    endpoints = listeners.compactMap(\.localAddress).compactMap { address in
      address.ipAddress.flatMap { ip in address.port.map { (ip, UInt16($0)) } }
    }
    if endpoints.isEmpty { target.note("this machine has no port left for a tunnel to it") }
  }

  deinit { for listener in listeners { listener.close(promise: nil) } }

  /// Why the newest connection to the server has failed, in words; nil where it stands, or nobody has asked for one.
  package var failure: String? { target.failure.withLock { $0 } }
}

/// The server behind a tunnel.
private final class TunnelTarget: Sendable {
  let host: String
  let port: Int
  /// Made once, since that reads files.
  let security: Result<SecureChannel, TLSFailure>
  let failure = Locked<String?>(nil)
  /// For TCP, and once more for TLS.
  static let patience = TimeAmount.seconds(10)
  /// libnice waits as long for the answer of a relay: where a network is just coming back, some attempts fit in.
  private static let attempts = (count: 7, interval: TimeAmount.seconds(1))

  init(host: String, port: UInt16, authorities: NamedAuthorities) {
    (self.host, self.port) = (host, Int(port))
    security = Result { () throws(TLSFailure) in try SecureChannel(host: host, trusting: authorities) }
  }

  func note(_ reason: String?) { failure.withLock { $0 = reason } }

  private func note(_ error: any Error) {
    if case TLSFailure.notTLS = error {
      return note("what answers does not speak TLS; use turn: if that is wanted, or the port that speaks TLS")
    }
    note(SignalError(opening: error, host: host, server: "\(host.asHost):\(port)").description)
  }

  /// Begins the connection that belongs to `near`, which is read from when it stands, and closed if it does not.
  func connect(_ near: any Channel, attempts: Int = TunnelTarget.attempts.count) {
    let security: SecureChannel
    do throws(TLSFailure) { security = try self.security.get() } catch {
      note(error)
      return near.close(promise: nil)
    }
    ClientBootstrap(group: near.eventLoop)
      .connectTimeout(Self.patience)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { far in far.eventLoop.makeCompletedFuture { try self.join(far, near, security) } }
      .connect(host: host, port: port)
      .whenFailure { error in
        self.note(error)
        guard attempts > 1 else { return near.close(promise: nil) }
        near.eventLoop.scheduleTask(in: Self.attempts.interval) { self.connect(near, attempts: attempts - 1) }
      }
  }

  private func join(_ far: any Channel, _ near: any Channel, _ security: SecureChannel) throws {
    try security.addHandler(to: far)
    let end = TunnelEnd(other: near) { [self] failure in
      guard let failure else {
        note(nil)
        return open(near, far)
      }
      note(failure)
    }
    try far.pipeline.syncOperations.addHandler(end)
  }

  private func open(_ near: any Channel, _ far: any Channel) {
    do {
      try near.pipeline.syncOperations.addHandler(TunnelEnd(other: far))
      near.setOption(.autoRead, value: true).whenFailure { _ in far.close(promise: nil) }
    } catch {
      far.close(promise: nil)
    }
  }
}

/// Hands on what one end reads to the other, no faster than that takes it, and ends with it.
private final class TunnelEnd: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  /// Nil once it was called, and on the end that has no TLS.
  private var decided: (((any Error)?) -> Void)?
  /// Of the handshake.
  private var timer: Scheduled<Void>?

  /// - Parameter decided: called when TLS stands, or with why it does not.
  init(other: any Channel, decided: (((any Error)?) -> Void)? = nil) { (self.other, self.decided) = (other, decided) }

  private func decide(_ failure: (any Error)?) {
    timer?.cancel()
    let decided = decided
    self.decided = nil
    decided?(failure)
  }

  func channelActive(context: ChannelHandlerContext) {
    guard decided != nil else { return }
    let channel = context.channel
    timer = channel.eventLoop.scheduleTask(in: TunnelTarget.patience) {
      channel.pipeline.fireErrorCaught(ChannelError.connectTimeout(TunnelTarget.patience))
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is TLSHandler.Opened { decide(nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { other.write(unwrapInboundIn(data), promise: nil) }

  func channelReadComplete(context: ChannelHandlerContext) { other.flush() }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    _ = other.setOption(.autoRead, value: context.channel.isWritable)
  }

  func channelInactive(context: ChannelHandlerContext) {
    decide(ChannelError.eof)
    other.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    decide(error)
    context.close(promise: nil)
  }
}
