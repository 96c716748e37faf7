import LiveKitProtocol

public import struct Foundation.Data

/// A text on its way to the others, piece by piece. It is to be closed: until then nobody knows that it is whole.
public final class TextStreamWriter: Sendable {
  /// What the others are told of it.
  public let info: TextStreamInfo
  private let stream: OutgoingStream

  init(_ stream: OutgoingStream) {
    (info, self.stream) = (TextStreamInfo(stream.header, stream.header.textHeader), stream)
  }

  /// Whether more may be written: neither is it closed nor is its connection lost.
  public var isOpen: Bool { stream.isOpen }

  /// Returns once the text is on its way, which may have to wait for room. Several calls keep their order. In a
  /// task that is cancelled the stream ends, with an error for whoever reads it.
  /// - Throws: ``StreamError/unknownStream``, or ``LiveKitError`` when it cannot be sent.
  public func write(_ text: String) async throws { try await stream.write(StreamPieces.cut(text)) }

  /// Returns once the end is on its way, behind all that was written.
  /// - Parameter reason: why the text ends before it is whole, which is an error for whoever reads it; nil where it is.
  ///   1,000 bytes of it travel.
  public func close(reason: String? = nil) async throws { try await stream.close(reason: reason) }
}

/// Bytes on their way to the others, piece by piece. They are to be closed: until then nobody knows that they are whole.
public final class ByteStreamWriter: Sendable {
  /// What the others are told of them.
  public let info: ByteStreamInfo
  private let stream: OutgoingStream

  init(_ stream: OutgoingStream) {
    (info, self.stream) = (ByteStreamInfo(stream.header, stream.header.byteHeader), stream)
  }

  /// Whether more may be written: neither is it closed nor is its connection lost.
  public var isOpen: Bool { stream.isOpen }

  /// Returns once the bytes are on their way, which may have to wait for room. Several calls keep their order. In
  /// a task that is cancelled the stream ends, with an error for whoever reads it.
  /// - Throws: ``StreamError/unknownStream``, ``StreamError/lengthExceeded`` for more than was announced, or ``LiveKitError``
  ///   when they cannot be sent.
  public func write(_ data: Data) async throws { try await stream.write(StreamPieces.cut(data)) }

  /// Returns once the end is on its way, behind all that was written.
  /// - Parameter reason: why the bytes end before they are whole, which is an error for whoever reads them; nil where they are.
  ///   1,000 bytes of it travel.
  public func close(reason: String? = nil) async throws { try await stream.close(reason: reason) }
}
