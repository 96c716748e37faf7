import LiveKitProtocol

/// A text that somebody sends, in pieces as they come. For one reader.
///
/// Up to 16 MB wait to be read, and 32 MB of all that one participant sends, as it is sent, compressed or not: a stream
/// beyond that ends with an error, and so does one whose reader is let go.
public final class TextStreamReader: AsyncSequence, Sendable {
  /// What the sender says of it.
  public let info: TextStreamInfo
  private let source: StreamSource

  init(info: TextStreamInfo, source: StreamSource) { (self.info, self.source) = (info, source) }

  /// The whole text, once it has come: what its sender has compressed may be a thousand times as long as what came.
  /// - Throws: ``StreamError`` where it is not whole.
  public func readAll() async throws -> String {
    var text = ""
    for try await piece in self { text += piece }
    return text
  }

  /// The pieces in order.
  public struct AsyncChunks: AsyncIteratorProtocol {
    fileprivate var pieces: StreamSource.Pieces
    private var decoder = TextDecoder()

    fileprivate init(pieces: StreamSource.Pieces) { self.pieces = pieces }

    /// - Returns: nil behind the end.
    /// - Throws: ``StreamError`` where the text is not whole.
    public mutating func next() async throws -> String? {
      while let piece = try await pieces.next() {
        guard let text = decoder.add(piece) else { throw StreamError.decodeFailed }
        if !text.isEmpty { return text }
      }
      guard decoder.isWhole else { throw StreamError.decodeFailed }
      return nil
    }
  }

  /// For `for try await`.
  public func makeAsyncIterator() -> AsyncChunks { AsyncChunks(pieces: .init(source)) }
}
