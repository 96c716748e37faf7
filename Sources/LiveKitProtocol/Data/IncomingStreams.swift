package import struct Foundation.Data

/// Why a stream has ended before its content was whole.
package enum StreamFault: Error, Equatable {
  /// A piece is missing, or the end came before the length that was announced.
  case incomplete
  /// There is more than was announced.
  case tooLong
  /// It is compressed, and not as it should be.
  case damaged
  /// The sender has given it up, and says why.
  case stopped(reason: String)
}

/// The streams that others send, as far as they have come. Pure: each has a sink, and what comes is told with it.
///
/// A sender chooses the ids of its streams, so that they say nothing without their origin: that is who really sends them.
/// An agent may name somebody else where a stream begins.
package struct IncomingStreams<Sink> {
  private struct Key: Hashable {
    let origin: String
    let id: String
  }

  private struct Stream {
    let total: UInt64?
    var length: UInt64 = 0
    var nextIndex: UInt64 = 0
    var sink: Sink
  }

  /// What a packet means.
  package enum Step {
    /// Nothing: it is of no stream that is open, or it came before.
    case nothing
    case piece(Data, Sink)
    /// The stream has ended: whole without a fault.
    case end(StreamFault?, Sink)
  }

  private var streams: [Key: Stream] = [:]
  /// As many of one origin are open at most, so that nobody fills the memory with streams that never end.
  package static var limit: Int { 100 }

  package init() {}

  package var count: Int { streams.count }

  package func isOpen(_ id: String, from origin: String) -> Bool { streams[Key(origin: origin, id: id)] != nil }

  /// Whether no more of one origin can be opened.
  package func isFull(for origin: String) -> Bool { streams.keys.count { $0.origin == origin } >= Self.limit }

  /// - Returns: false where that one is open already, or too many are.
  package mutating func open(_ header: Livekit_DataStream.Header, from origin: String, to sink: Sink) -> Bool {
    let key = Key(origin: origin, id: header.streamID)
    guard streams[key] == nil, !isFull(for: origin) else { return false }
    streams[key] = Stream(total: header.hasTotalLength ? header.totalLength : nil, sink: sink)
    return true
  }

  /// The channel keeps the order, so that an index that is not the next one means that something is lost.
  package mutating func take(_ chunk: Livekit_DataStream.Chunk, from origin: String) -> Step {
    let key = Key(origin: origin, id: chunk.streamID)
    guard let stream = streams[key], chunk.chunkIndex >= stream.nextIndex else { return .nothing }
    guard chunk.chunkIndex == stream.nextIndex else { return end(key, .incomplete) }
    let length = stream.length + UInt64(chunk.content.count)
    if let total = stream.total, length > total { return end(key, .tooLong) }
    streams[key]?.length = length
    streams[key]?.nextIndex += 1
    return .piece(chunk.content, stream.sink)
  }

  package mutating func end(_ trailer: Livekit_DataStream.Trailer, from origin: String) -> Step {
    let key = Key(origin: origin, id: trailer.streamID)
    guard let stream = streams[key] else { return .nothing }
    if !trailer.reason.isEmpty { return end(key, .stopped(reason: trailer.reason)) }
    return end(key, stream.total.map { stream.length < $0 } == true ? .incomplete : nil)
  }

  private mutating func end(_ key: Key, _ fault: StreamFault?) -> Step {
    streams.removeValue(forKey: key).map { .end(fault, $0.sink) } ?? .nothing
  }

  /// Its content cannot be had.
  package mutating func fail(_ id: String, from origin: String, _ fault: StreamFault) -> Step {
    end(Key(origin: origin, id: id), fault)
  }

  /// Nobody wants one any more.
  package mutating func close(_ id: String, from origin: String) {
    streams[Key(origin: origin, id: id)] = nil
  }

  /// - Parameter origin: who has left; nil for the end of everything.
  /// - Returns: the sinks of what was open.
  package mutating func removeAll(from origin: String?) -> [Sink] {
    let gone = streams.filter { origin == nil || $0.key.origin == origin }
    for key in gone.keys { streams[key] = nil }
    return gone.values.map(\.sink)
  }
}
