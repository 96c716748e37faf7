import MediaCore
import NIOCore
import NIOPosix

/// The sockets that an attempt to connect has opened, to be closed when it is given up.
final class OpenSockets: Sendable {
  private struct State {
    var channels: [any Channel] = []
    /// Of who waits for what is made with them.
    var waiting: [@Sendable () -> Void] = []
    var isClosed = false
  }

  private let state = Locked(State())

  func add(_ channel: any Channel) -> EventLoopFuture<Void> {
    let isWanted = state.withLock { state in
      if !state.isClosed { state.channels.append(channel) }
      return !state.isClosed
    }
    return isWanted
      ? channel.eventLoop.makeSucceededVoidFuture() : channel.eventLoop.makeFailedFuture(Self.closed)
  }

  /// What `work` makes, unless they are closed before. It is not waited for then: nothing ends the system's look-up of a
  /// name, which takes long where no server for names can be reached.
  func untilClosed<Result: Sendable>(
    _ work: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Result.self)
    let isOpen = state.withLock { state in
      if !state.isClosed { state.waiting.append { promise.fail(Self.closed) } }
      return !state.isClosed
    }
    if isOpen { promise.completeWithTask(work) } else { promise.fail(Self.closed) }
    return try await promise.futureResult.get()
  }

  func close() {
    let open = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state
    }
    for channel in open.channels { channel.close(promise: nil) }
    for end in open.waiting { end() }
  }

  private static let closed = ChannelError.ioOnClosedChannel
}
