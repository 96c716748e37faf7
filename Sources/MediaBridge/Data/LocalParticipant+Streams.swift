public import Foundation
import LiveKitProtocol

// Texts and files of any length to the others: in pieces, in order, and whole or with an error.
extension LocalParticipant {
  /// Sends a text. Returns once all of it is on its way; nobody confirms that it was read.
  /// - Throws: ``LiveKitError`` as `publish(data:options:)` does.
  @discardableResult
  public func sendText(_ text: String, for topic: String) async throws -> TextStreamInfo {
    try await sendText(text, options: StreamTextOptions(topic: topic))
  }

  /// Sends a text. Returns once all of it is on its way; nobody confirms that it was read. One whose task is cancelled
  /// is an error for whoever gets it, too.
  /// - Throws: ``LiveKitError`` as `publish(data:options:)` does; `invalidParameter` also where what is said of it ahead,
  ///   such as its attributes, is longer than 15,000 bytes.
  @discardableResult
  public func sendText(_ text: String, options: StreamTextOptions) async throws -> TextStreamInfo {
    let header = Livekit_DataStream.Header(options, totalLength: text.utf8.count)
    let writer = TextStreamWriter(try await OutgoingStream(header, to: options.destinationIdentities, by: self))
    try await writer.write(text)
    try await writer.close()
    return writer.info
  }

  /// Opens a text that is written piece by piece.
  /// - Throws: ``LiveKitError`` as `publish(data:options:)` does.
  public func streamText(for topic: String) async throws -> TextStreamWriter {
    try await streamText(options: StreamTextOptions(topic: topic))
  }

  /// Opens a text that is written piece by piece.
  /// - Throws: ``LiveKitError`` as `publish(data:options:)` does.
  public func streamText(options: StreamTextOptions) async throws -> TextStreamWriter {
    let header = Livekit_DataStream.Header(options, totalLength: nil)
    return TextStreamWriter(try await OutgoingStream(header, to: options.destinationIdentities, by: self))
  }

  /// Opens bytes that are written piece by piece.
  /// - Throws: ``LiveKitError`` as `publish(data:options:)` does.
  public func streamBytes(for topic: String) async throws -> ByteStreamWriter {
    try await streamBytes(options: StreamByteOptions(topic: topic))
  }

  /// Opens bytes that are written piece by piece.
  /// - Throws: ``LiveKitError`` as `publish(data:options:)` does.
  public func streamBytes(options: StreamByteOptions) async throws -> ByteStreamWriter {
    let header = Livekit_DataStream.Header(options)
    return ByteStreamWriter(try await OutgoingStream(header, to: options.destinationIdentities, by: self))
  }

  /// Sends a file. Returns once all of it is on its way; nobody confirms that it was read.
  /// - Throws: `invalidParameter` where it cannot be read, or ``LiveKitError`` as `publish(data:options:)` does.
  @discardableResult
  public func sendFile(_ fileURL: URL, for topic: String) async throws -> ByteStreamInfo {
    try await sendFile(fileURL, options: StreamByteOptions(topic: topic))
  }

  /// Sends a file, as long as it is now. Returns once all of it is on its way; nobody confirms that it was read. One that
  /// cannot be read to its end, or whose task is cancelled, is an error for whoever gets it, too.
  /// - Throws: `invalidParameter` where it cannot be read, or ``LiveKitError`` as `publish(data:options:)` does.
  @discardableResult
  public func sendFile(_ fileURL: URL, options: StreamByteOptions) async throws -> ByteStreamInfo {
    let (file, size) = try SentFile.open(fileURL)
    defer { try? file.close() }
    var options = options
    options.totalSize = size
    options.name = options.name ?? fileURL.lastPathComponent
    options.mimeType = options.mimeType ?? MimeType.of(fileURL)
    let writer = try await streamBytes(options: options)
    do {
      try await SentFile.send(file, size, of: fileURL, to: writer)
    } catch {
      try? await writer.close(reason: "the sender could not go on with the file")
      throw error
    }
    try await writer.close()
    return writer.info
  }
}

/// A file that is read as it is sent.
private enum SentFile {
  static func open(_ url: URL) throws(LiveKitError) -> (FileHandle, size: Int) {
    do {
      let values = try url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
      guard values.isRegularFile == true, let size = values.fileSize else {
        throw LiveKitError(.invalidParameter, "\(url.path) is no file")
      }
      return (try FileHandle(forReadingFrom: url), size)
    } catch let error as LiveKitError {
      throw error
    } catch {
      throw LiveKitError(
        .invalidParameter, "\(url.path) cannot be read: \(error.localizedDescription)", underlying: error)
    }
  }

  static func send(_ file: FileHandle, _ size: Int, of url: URL, to writer: ByteStreamWriter) async throws {
    var rest = size
    while rest > 0 {
      try Task.checkCancellation()
      guard let piece = try file.read(upToCount: min(rest, StreamPieces.size)), !piece.isEmpty else {
        throw LiveKitError(.invalidParameter, "\(url.path) has become shorter while it was sent")
      }
      try await writer.write(piece)
      rest -= piece.count
    }
  }
}
