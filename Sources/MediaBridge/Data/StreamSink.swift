import Foundation
import MediaCore

/// Where the pieces of a stream go that somebody reads. What waits there is bounded: a handler that does not read loses
/// its stream, and fills no memory.
struct StreamSink: Sendable {
  private let unread: UnreadBytes
  private let pieces: AsyncThrowingStream<Data, any Error>.Continuation

  /// - Parameters:
  ///   - total: what waits in all streams of the one who sends it.
  ///   - content: what is made of the pieces as they are read; nil where they are read as they come.
  ///   - onDrop: told when nobody reads the stream any more, before its end.
  static func make(
    countedIn total: Locked<Int>, inflating content: InflatedContent?, onDrop: @escaping @Sendable () -> Void
  ) -> (sink: StreamSink, source: StreamSource) {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
    continuation.onTermination = { if case .cancelled = $0 { onDrop() } }
    let unread = UnreadBytes(of: total)
    let source = StreamSource(unread: unread, pieces: stream, content: content.map { Locked($0) })
    return (StreamSink(unread: unread, pieces: continuation), source)
  }

  /// - Returns: false where the stream is not read, and has ended for that.
  func add(_ piece: Data) -> Bool {
    if let limit = unread.add(piece.count) {
      finish(.unreadLimitExceeded(limit))
      return false
    }
    pieces.yield(piece)
    return true
  }

  func finish(_ error: StreamError?) { pieces.finish(throwing: error) }
}

/// How much of a stream waits, counted with the other streams of its sender as long as it may be read.
final class UnreadBytes: Sendable {
  /// Of one stream: a file of the usual size, for who reads it late.
  static let limit = 16 << 20
  /// Of one sender, who may have many streams.
  static let totalLimit = 32 << 20

  private let own = Locked(0)
  private let total: Locked<Int>

  init(of total: Locked<Int>) { self.total = total }

  deinit { remove(own.withLock { $0 }) }

  /// - Returns: the limit that it is beyond; nothing is added then.
  func add(_ count: Int) -> Int? {
    own.withLock { own in
      guard own + count <= Self.limit else { return Self.limit }
      let hasRoom = total.withLock { total in
        guard total + count <= Self.totalLimit else { return false }
        total += count
        return true
      }
      if hasRoom { own += count }
      return hasRoom ? nil : Self.totalLimit
    }
  }

  func remove(_ count: Int) {
    own.withLock { $0 -= count }
    total.withLock { $0 -= count }
  }
}

/// Bytes that are counted together, by who sent them, as long as any of them may be read: LiveKit's server calls in
/// another name each time that its API is asked to.
struct UnreadTotals: Sendable {
  private struct Total: Sendable {
    weak var bytes: Locked<Int>?
  }

  private var totals: [String: Total] = [:]

  /// Of how many senders there are any, or have just been.
  var count: Int { totals.count }

  mutating func total(of sender: String) -> Locked<Int> {
    if let known = totals[sender]?.bytes { return known }
    totals = totals.filter { $0.value.bytes != nil }
    let bytes = Locked(0)
    totals[sender] = Total(bytes: bytes)
    return bytes
  }

  mutating func unread(of sender: String) -> UnreadBytes { UnreadBytes(of: total(of: sender)) }

  /// What still waits is counted no more with what comes later.
  /// - Parameter sender: nil for all.
  mutating func forget(_ sender: String?) {
    if let sender { totals[sender] = nil } else { totals = [:] }
  }
}

/// The other end of a sink, for one reader.
struct StreamSource: Sendable {
  fileprivate let unread: UnreadBytes
  fileprivate let pieces: AsyncThrowingStream<Data, any Error>
  /// Of what is compressed: the same for whoever goes on reading.
  fileprivate let content: Locked<InflatedContent>?

  /// One after the other; the pieces that come while nobody asks are kept.
  struct Pieces {
    private var pieces: AsyncThrowingStream<Data, any Error>.Iterator
    private let unread: UnreadBytes
    private let content: Locked<InflatedContent>?

    init(_ source: StreamSource) {
      (pieces, unread, content) = (source.pieces.makeAsyncIterator(), source.unread, source.content)
    }

    /// - Throws: `StreamError` where the stream is not whole, `CancellationError` in a task that has been cancelled,
    ///   since a stream that ends there is not whole either.
    mutating func next() async throws -> Data? {
      guard let content else { return try await nextAsSent() }
      while true {
        if let piece = try content.withLock({ try $0.next() }) { return piece }
        guard let piece = try await nextAsSent() else {
          try content.withLock { try $0.end() }
          return nil
        }
        content.withLock { $0.add(piece) }
      }
    }

    private mutating func nextAsSent() async throws -> Data? {
      guard let piece = try await pieces.next() else {
        try Task.checkCancellation()
        return nil
      }
      unread.remove(piece.count)
      return piece
    }
  }
}
