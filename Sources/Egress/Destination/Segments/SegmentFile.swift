import Foundation
import Glibc
import MediaBridge

/// A file that is written as its bytes come, many of them at a time: a multiplexer hands out pieces of 188 bytes.
final class SegmentFile {
  let path: String
  private let descriptor: Int32
  private var waiting: [UInt8] = []
  private(set) var count = 0

  private static let most = 65_536

  init(_ path: String) throws(LiveKitError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  deinit { close(descriptor) }

  func append(_ bytes: some Sequence<UInt8>) { waiting.append(contentsOf: bytes) }

  /// Whether it is time to write what waits.
  var isFull: Bool { waiting.count >= Self.most }

  /// Writes what waits.
  func flush() throws(LiveKitError) {
    var written = 0
    while written < waiting.count {
      let result = waiting.withUnsafeBytes {
        write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
      }
      guard result > 0 || errno == EINTR else { throw Self.failure(path) }
      written += max(result, 0)
    }
    count += written
    waiting.removeAll(keepingCapacity: true)
  }

  /// What `errno` says.
  fileprivate static func failure(_ path: String) -> LiveKitError {
    let code = errno
    guard code != ENOSPC else { return LiveKitError(.output, "the disk is full") }
    return LiveKitError(
      .output, "\(path): no file can be written here (\(String(cString: strerror(code)))); choose another folder")
  }
}

/// A file that is made whole and at once: whoever reads the name sees what was there before, or all that is there now.
enum WholeFile {
  /// - Returns: its descriptor, with the lock that a `FileClaim` holds, which the caller closes.
  static func write(_ bytes: [UInt8], to path: String) throws(LiveKitError) -> Int32 {
    let url = URL(fileURLWithPath: path)
    let temporary = url.deletingLastPathComponent().path + "/.\(url.lastPathComponent).part"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SegmentFile.failure(path) }
    do throws(LiveKitError) {
      flock(descriptor, LOCK_EX | LOCK_NB)
      guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, rename(temporary, path) == 0 else {
        throw SegmentFile.failure(path)
      }
      return descriptor
    } catch {
      unlink(temporary)
      close(descriptor)
      throw error
    }
  }
}
