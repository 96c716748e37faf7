import GStreamerKit
import LiveKitProtocol

/// The texts that their senders compress, on their way to who is told of them: there they go on as they were before, in
/// chunks of their own.
///
/// Of each the content is inflated piece by piece, and only while it is told, so that a few bytes which stand for
/// millions fill no memory.
struct CompressedStreams {
  private struct Key: Hashable {
    let origin: String
    let id: String
  }

  private struct Stream {
    let inflater = Inflater()
    /// The index of the chunk that comes next.
    var coming: UInt64 = 0
    /// The index of the chunk that goes on next.
    var going: UInt64 = 0
    var hasGap = false
  }

  /// What goes on.
  enum Step {
    case chunk(Livekit_DataStream.Chunk)
    case fault(StreamFault)
    /// Nothing, before another chunk comes.
    case nothing
  }

  private var streams: [Key: Stream] = [:]

  mutating func open(_ id: String, from origin: String) {
    let key = Key(origin: origin, id: id)
    if streams[key] == nil { streams[key] = Stream() }
  }

  /// Takes a chunk, which is to be asked for with `next`.
  /// - Returns: false for one of a stream that is not compressed, which goes on as it is.
  mutating func add(_ chunk: Livekit_DataStream.Chunk, from origin: String) -> Bool {
    let key = Key(origin: origin, id: chunk.streamID)
    guard let stream = streams[key] else { return false }
    // One that comes twice would be inflated twice.
    guard chunk.chunkIndex >= stream.coming else { return true }
    guard chunk.chunkIndex == stream.coming else {
      streams[key]?.hasGap = true
      return true
    }
    streams[key]?.coming += 1
    stream.inflater.add(chunk.content)
    return true
  }

  mutating func next(of id: String, from origin: String) -> Step {
    let key = Key(origin: origin, id: id)
    guard let stream = streams[key] else { return .nothing }
    guard !stream.hasGap else { return .fault(.incomplete) }
    switch stream.inflater.next() {
    case .hungry, .end: return .nothing
    case .damaged: return .fault(.damaged)
    case .piece(let content):
      streams[key]?.going += 1
      var chunk = Livekit_DataStream.Chunk()
      (chunk.streamID, chunk.chunkIndex, chunk.content) = (id, stream.going, content)
      return .chunk(chunk)
    }
  }

  /// - Returns: why it is not whole, where its sender says that it is.
  mutating func end(_ trailer: Livekit_DataStream.Trailer, from origin: String) -> StreamFault? {
    let stream = streams.removeValue(forKey: Key(origin: origin, id: trailer.streamID))
    guard let stream, trailer.reason.isEmpty, !stream.inflater.isOver else { return nil }
    return .incomplete
  }

  /// Those of one sender that are open.
  func ids(of origin: String) -> [String] { streams.keys.filter { $0.origin == origin }.map(\.id) }

  /// Nobody reads it any more.
  mutating func close(_ id: String, from origin: String) { streams[Key(origin: origin, id: id)] = nil }

  /// - Parameter origin: who has left; nil for the end of the session.
  mutating func cut(from origin: String?) {
    streams = origin.map { origin in streams.filter { $0.key.origin != origin } } ?? [:]
  }
}
