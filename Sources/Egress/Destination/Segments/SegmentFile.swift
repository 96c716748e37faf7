import Foundation
import Glibc
import MediaBridge

/// A file that is written as its bytes come, many of them at a time: a multiplexer hands out pieces of 188 bytes.
final class SegmentFile {
  let path: String
  private let descriptor: Int32
  private var waiting: [UInt8] = []
  /// Where the newest frame begins in what waits.
  private var frame = 0
  private(set) var count = 0

  private static let most = 65_536

  init(_ path: String) throws(LiveKitError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  deinit { close(descriptor) }

  func append(_ bytes: some Sequence<UInt8>) { waiting.append(contentsOf: bytes) }

  /// Another frame begins: what is before it may be written.
  func beginFrame() throws(LiveKitError) {
    if waiting.count >= Self.most { try flush() }
    frame = waiting.count
  }

  /// Takes out what came since the newest frame began.
  func takeFrame() -> [UInt8] {
    defer { waiting.removeSubrange(frame...) }
    return Array(waiting[frame...])
  }

  /// Writes what waits.
  func flush() throws(LiveKitError) {
    try Self.write(waiting, to: descriptor, of: path)
    count += waiting.count
    waiting.removeAll(keepingCapacity: true)
    frame = 0
  }

  /// Writes all of it.
  fileprivate static func write(_ bytes: [UInt8], to descriptor: Int32, of path: String) throws(LiveKitError) {
    var start = 0
    while start < bytes.count {
      let written = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
      }
      guard written > 0 || errno == EINTR else { throw failure(path) }
      start += max(written, 0)
    }
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
      try SegmentFile.write(bytes, to: descriptor, of: path)
      guard rename(temporary, path) == 0 else { throw SegmentFile.failure(path) }
      return descriptor
    } catch {
      unlink(temporary)
      close(descriptor)
      throw error
    }
  }

  /// Adds bytes to what is there, all of them or none where they are added at its end.
  /// - Parameter tail: the last of what is there, which stays the last. It is there at each moment, for a while twice:
  ///   behind itself first, and what is between both is written over then.
  static func append(
    _ bytes: [UInt8], aheadOf tail: [UInt8], to descriptor: Int32, of path: String
  ) throws(LiveKitError) {
    let end = lseek(descriptor, 0, SEEK_END)
    let added = bytes + tail
    do throws(LiveKitError) { try write(added, to: descriptor, of: path) } catch {
      ftruncate(descriptor, end)
      throw error
    }
    guard !tail.isEmpty else { return }
    lseek(descriptor, end - tail.count, SEEK_SET)
    try write(added, to: descriptor, of: path)
    guard ftruncate(descriptor, end + bytes.count) == 0 else { throw SegmentFile.failure(path) }
    close(dup(descriptor))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, of path: String) throws(LiveKitError) {
    try SegmentFile.write(bytes, to: descriptor, of: path)
    // A disk of a server gets it now, as it does at each close: others read it there.
    close(dup(descriptor))
  }
}
