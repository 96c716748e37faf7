import Foundation
import MediaCore

/// Where the pieces of a stream go that somebody reads. What waits there is bounded: a handler that does not read loses
/// its stream, and fills no memory.
struct StreamSink: Sendable {
  /// Bytes of one stream that may wait: a file of the usual size, for who reads it late.
  static let limit = 16 << 20

  private let unread: Locked<Int>
  private let pieces: AsyncThrowingStream<Data, any Error>.Continuation

  /// - Parameter onDrop: told when nobody reads the stream any more, before its end.
  static func make(onDrop: @escaping @Sendable () -> Void) -> (sink: StreamSink, source: StreamSource) {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
    continuation.onTermination = { if case .cancelled = $0 { onDrop() } }
    let unread = Locked(0)
    return (StreamSink(unread: unread, pieces: continuation), StreamSource(unread: unread, pieces: stream))
  }

  /// - Returns: false where the stream is not read, and has ended for that.
  func add(_ piece: Data) -> Bool {
    let hasRoom = unread.withLock { unread in
      guard unread + piece.count <= Self.limit else { return false }
      unread += piece.count
      return true
    }
    if hasRoom { pieces.yield(piece) } else { finish(.unreadLimitExceeded(Self.limit)) }
    return hasRoom
  }

  func finish(_ error: StreamError?) { pieces.finish(throwing: error) }
}

/// The other end of a sink, for one reader.
struct StreamSource: Sendable {
  fileprivate let unread: Locked<Int>
  fileprivate let pieces: AsyncThrowingStream<Data, any Error>

  /// One after the other; the pieces that come while nobody asks are kept.
  struct Pieces {
    private var pieces: AsyncThrowingStream<Data, any Error>.Iterator
    private let unread: Locked<Int>

    init(_ source: StreamSource) { (pieces, unread) = (source.pieces.makeAsyncIterator(), source.unread) }

    /// - Throws: `StreamError` where the stream is not whole, `CancellationError` in a task that has been cancelled,
    ///   since a stream that ends there is not whole either.
    mutating func next() async throws -> Data? {
      guard let piece = try await pieces.next() else {
        try Task.checkCancellation()
        return nil
      }
      unread.withLock { $0 -= piece.count }
      return piece
    }
  }
}
