public import Foundation
import PipelineTemplates

/// Bytes or a file that somebody sends, in pieces as they come. For one reader.
///
/// Up to 16 MB wait to be read, and 32 MB of all that one participant sends, as it is sent, compressed or not: a stream
/// beyond that ends with an error, and so does one whose reader is let go.
public final class ByteStreamReader: AsyncSequence, Sendable {
  /// What the sender says of them.
  public let info: ByteStreamInfo
  private let source: StreamSource

  init(info: ByteStreamInfo, source: StreamSource) { (self.info, self.source) = (info, source) }

  /// All bytes, once they have come. What is large is better written to a file, or read in pieces: what its sender has
  /// compressed may be a thousand times as long as what came.
  /// - Throws: ``StreamError`` where some are missing.
  public func readAll() async throws -> Data {
    var data = Data()
    for try await piece in self { data += piece }
    return data
  }

  /// The pieces in order.
  public struct AsyncChunks: AsyncIteratorProtocol {
    fileprivate var pieces: StreamSource.Pieces

    /// - Returns: nil behind the end.
    /// - Throws: ``StreamError`` where some bytes are missing.
    public mutating func next() async throws -> Data? { try await pieces.next() }
  }

  /// For `for try await`.
  public func makeAsyncIterator() -> AsyncChunks { AsyncChunks(pieces: .init(source)) }

  // MARK: Files

  /// Writes the pieces to a new file as they come; a file that is not whole is removed.
  ///
  /// The sender's name of the file is made safe, and cannot lead out of the folder. Where there is a file of that name
  /// the new one is called `NAME-2.SUFFIX`, and so on: no file is overwritten.
  /// - Parameters:
  ///   - directory: is there already.
  ///   - name: nil for the sender's, or the stream's id where it gives none.
  /// - Returns: where the file is.
  /// - Throws: ``StreamError`` where some bytes are missing, ``LiveKitError`` where they cannot be written.
  public func writeToFile(
    in directory: URL = FileManager.default.temporaryDirectory, name: String? = nil
  ) async throws -> URL {
    let (file, url) = try Self.create(name ?? info.name ?? info.id, in: directory)
    do {
      defer { try? file.close() }
      for try await piece in self { try Self.write(piece, to: file, url) }
    } catch {
      try? FileManager.default.removeItem(at: url)
      throw error
    }
    return url
  }

  private static func write(_ piece: Data, to file: FileHandle, _ url: URL) throws(LiveKitError) {
    do { try file.write(contentsOf: piece) } catch {
      throw LiveKitError(.output, "\(url.path) cannot be written: \(error.localizedDescription)", underlying: error)
    }
  }

  private static func create(_ name: String, in directory: URL) throws(LiveKitError) -> (FileHandle, URL) {
    let safe = URL(filePath: "/" + FileNameTemplate.safe(name, bytes: 200))
    let (stem, suffix) = (safe.deletingPathExtension().lastPathComponent, safe.pathExtension)
    for number in 1...1000 {
      let numbered = (number == 1 ? stem : "\(stem)-\(number)") + (suffix.isEmpty ? "" : ".\(suffix)")
      let url = directory.appending(path: numbered)
      let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      if descriptor >= 0 { return (FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), url) }
      guard errno == EEXIST else {
        throw LiveKitError(.output, "no file can be made in \(directory.path): \(String(cString: strerror(errno)))")
      }
    }
    throw LiveKitError(.output, "there are 1000 files like \(safe.lastPathComponent) in \(directory.path) already")
  }
}
