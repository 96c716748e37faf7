import LiveKitProtocol
import Logging
import MediaCore

/// Reads a text, or answers to it, in a task of its own.
/// - Parameters: the text, and the identity of who sends it.
public typealias TextStreamHandler = @Sendable (TextStreamReader, String) async throws -> Void

/// Reads bytes in a task of its own.
/// - Parameters: the bytes, and the identity of who sends them.
public typealias ByteStreamHandler = @Sendable (ByteStreamReader, String) async throws -> Void

/// Hands the streams that others send to the handlers of their topics. Each handler runs in a task of its own, and they
/// begin in the order in which their streams do; none keeps another one, or what comes, from going on.
final class StreamReceiver: Sendable {
  private struct State {
    var texts: [String: TextStreamHandler] = [:]
    var bytes: [String: ByteStreamHandler] = [:]
    var open = IncomingStreams<StreamSink>()
    var unread = UnreadTotals()
  }

  private let state = Locked(State())
  private let beginnings = TaskChain()

  func set(_ handler: @escaping TextStreamHandler, for topic: String) throws(StreamError) {
    guard state.withLock({ $0.texts.insert(handler, for: topic) }) else { throw .handlerAlreadyRegistered }
  }

  func set(_ handler: @escaping ByteStreamHandler, for topic: String) throws(StreamError) {
    guard state.withLock({ $0.bytes.insert(handler, for: topic) }) else { throw .handlerAlreadyRegistered }
  }

  func removeTextHandler(for topic: String) { state.withLock { $0.texts[topic] = nil } }
  func removeByteHandler(for topic: String) { state.withLock { $0.bytes[topic] = nil } }

  // MARK: What comes

  /// - Parameters:
  ///   - sender: whose stream it is, as its handler is told.
  ///   - origin: who really sends it, as all that follows is sent.
  ///   - reader: reads it in place of the handler of its topic; nil for that.
  func open(
    _ header: Livekit_DataStream.Header, from sender: String, origin: String, _ logger: Logger,
    to reader: TextStreamHandler? = nil
  ) {
    let isOpen = Locked(false)
    let unread = state.withLock { $0.unread.total(of: origin) }
    let (sink, source) = StreamSink.make(countedIn: unread, inflating: header.content) {
      [weak self, id = header.streamID] in
      // Another one of that id may be open.
      if isOpen.withLock({ $0 }) { self?.state.withLock { $0.open.close(id, from: origin) } }
    }
    guard let run = body(for: header, from: sender, source, reader) else {
      return logger.debug("a stream that nobody reads", metadata: ["topic": "\(header.topic)", "from": "\(sender)"])
    }
    guard state.withLock({ $0.open.open(header.asSent, from: origin, to: sink) }) else {
      return logger.warning(
        "a stream is left out: its sender has too many, or one of that id", metadata: ["from": "\(sender)"])
    }
    isOpen.withLock { $0 = true }
    let report = { @Sendable (error: any Error) in
      logger.warning(
        "the handler of a stream has failed", metadata: ["topic": "\(header.topic)", "reason": "\(error)"])
    }
    // It begins at once, so that the next one begins after it, and goes on by itself.
    beginnings.add {
      Task.immediate { do { try await run() } catch { report(error) } }
    }
  }

  /// What `own`, or the handler of its topic, does with a stream; nil without one.
  private func body(
    for header: Livekit_DataStream.Header, from sender: String, _ source: StreamSource, _ own: TextStreamHandler?
  ) -> (@Sendable () async throws -> Void)? {
    switch header.contentHeader {
    case .textHeader(let text):
      guard let handler = own ?? state.withLock({ $0.texts[header.topic] }) else { return nil }
      let reader = TextStreamReader(info: .init(header, text), source: source)
      return { try await handler(reader, sender) }
    case .byteHeader(let bytes):
      guard own == nil, let handler = state.withLock({ $0.bytes[header.topic] }) else { return nil }
      let reader = ByteStreamReader(info: .init(header, bytes), source: source)
      return { try await handler(reader, sender) }
    case nil: return nil
    }
  }

  func take(_ chunk: Livekit_DataStream.Chunk, from origin: String) {
    let step = state.withLock { $0.open.take(chunk, from: origin) }
    if case .piece(let piece, let sink) = step, !sink.add(piece) {
      state.withLock { $0.open.close(chunk.streamID, from: origin) }
    }
    finish(step)
  }

  func end(_ trailer: Livekit_DataStream.Trailer, from origin: String) {
    finish(state.withLock { $0.open.end(trailer, from: origin) })
  }

  /// Whether more of a stream may come that somebody reads.
  func isOpen(_ id: String, from origin: String) -> Bool { state.withLock { $0.open.isOpen(id, from: origin) } }

  private func finish(_ step: IncomingStreams<StreamSink>.Step) {
    if case .end(let fault, let sink) = step { sink.finish(fault.map(StreamError.init)) }
  }

  /// - Parameter origin: who has left; nil for the end of the session.
  func cut(from origin: String?) {
    let cut = state.withLock { state in
      state.unread.forget(origin)
      return state.open.removeAll(from: origin)
    }
    for sink in cut { sink.finish(.terminated) }
  }
}

extension Livekit_DataStream.Header {
  /// What inflates the content; nil where it is not compressed.
  fileprivate var content: InflatedContent? {
    compression == .deflateRaw ? InflatedContent(total: hasTotalLength ? totalLength : nil) : nil
  }

  /// How long it is when it is compressed nobody says.
  fileprivate var asSent: Self {
    var header = self
    if compression == .deflateRaw { header.clearTotalLength() }
    return header
  }
}

extension Dictionary {
  /// - Returns: false where there is a value for the key already, which stays.
  mutating func insert(_ value: Value, for key: Key) -> Bool {
    guard self[key] == nil else { return false }
    self[key] = value
    return true
  }
}
