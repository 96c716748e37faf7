import Egress
import Foundation
import MediaBridge
import MediaCore

/// Standard output, or another descriptor that the process was given.
final class DescriptorSink: RawSink {
  let name: String
  private let descriptor: Int32

  init(_ descriptor: Int32, name: String) { (self.descriptor, self.name) = (descriptor, name) }

  func begin(header: [UInt8]) throws(LiveKitError) { try RawDescriptor.write(header[...], to: descriptor, of: name) }
  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    try RawDescriptor.write(piece, to: descriptor, of: name)
  }
  func end() { close(descriptor) }
  var isHungUp: Bool { RawDescriptor.isHungUp(descriptor) }
  /// Whoever waits in `write` to a socket is told that it is over; of all else it is not.
  func abandon() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// A file, or a named pipe, for whose reader it waits.
///
/// `@unchecked Sendable`: all but `init` and `abandon` is called by one thread at a time, and `abandon` touches what guards
/// itself.
final class PathSink: RawSink, @unchecked Sendable {
  let name: String
  private let finalHeader: (@Sendable (Int) -> [UInt8])?
  private var descriptor: Int32 = -1
  /// Whether nothing was there before.
  private let isNew: Bool
  /// Not what a pipe or a device gets.
  let keepsAll: Bool
  /// Made for it, the innermost first.
  private let newFolders: [String]
  private let isAbandoned = Locked(false)
  private var header = 0
  private var size = 0

  /// - Parameter finalHeader: what is to stand at the beginning of a file of so many bytes behind that.
  /// - Throws: where it cannot be written. A file is made at once, with the folders that it is to lie in, so that this is
  ///   known at once; what it replaces stays until something comes.
  init(
    _ path: String, replaces: Bool, finalHeader: (@Sendable (_ bytes: Int) -> [UInt8])? = nil
  ) throws(LiveKitError) {
    (name, self.finalHeader, isNew) = (path, finalHeader, !PathSink.isThere(path))
    keepsAll = PathSink.keeps(path)
    newFolders = try MissingFolders.make(for: path)
    guard !Self.isPipe(path) else { return }
    if !replaces, Self.holdsSomething(path) {
      throw LiveKitError(
        .output, "\(path) holds something already; give another name, or --overwrite to replace it")
    }
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      let failure = RawDescriptor.failure(ofFile: path)
      MissingFolders.remove(newFolders)
      throw failure
    }
  }

  /// Whether it is one, and so keeps nothing.
  static func isPipe(_ path: String) -> Bool { status(path, S_IFIFO) != nil }

  /// Whether it is one, or is to be, for images.
  static func namesFolder(_ path: String) -> Bool { path.hasSuffix("/") || isFolder(path) }

  /// Whether there is one.
  static func isFolder(_ path: String) -> Bool { status(path, S_IFDIR) != nil }

  /// Whether what is written there stays under that name: in a file or a folder, which may still have to be made.
  static func keeps(_ path: String) -> Bool { !isThere(path) || isFolder(path) || status(path, S_IFREG) != nil }

  private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  private static func holdsSomething(_ path: String) -> Bool { status(path, S_IFREG).map { $0.st_size > 0 } ?? false }

  /// - Returns: nil where there is nothing of that kind.
  private static func status(_ path: String, _ kind: mode_t) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == kind ? status : nil
  }

  func begin(header: [UInt8]) throws(LiveKitError) {
    if descriptor < 0 { try openPipe() }
    if let bytes = fileSize, bytes > 0, ftruncate(descriptor, 0) != 0 { throw RawDescriptor.failure(name) }
    try RawDescriptor.write(header[...], to: descriptor, of: name)
    self.header = header.count
  }

  /// In bytes; nil for what is no file.
  private var fileSize: Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// A call that waits for the reader could not be ended.
  private func openPipe() throws(LiveKitError) {
    while !isAbandoned.withLock({ $0 }) {
      descriptor = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return
      }
      guard errno == ENXIO else { throw RawDescriptor.failure(name) }
      usleep(20_000)
    }
    throw RawDescriptor.unread(name)
  }

  func abandon() { isAbandoned.withLock { $0 = true } }

  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    do throws(LiveKitError) { try RawDescriptor.write(piece, to: descriptor, of: name) } catch {
      // What found no room is cut: a part of a frame is of no use.
      if fileSize != nil { _ = ftruncate(descriptor, off_t(header + size)) }
      throw error
    }
    size += piece.size
  }

  func end() {
    guard descriptor >= 0 else { return }
    if let header = finalHeader?(size), header.count == self.header {
      // A pipe has no beginning any more, which is no mistake.
      _ = header.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
    // Nothing came.
    if isNew, fileSize == 0 {
      unlink(name)
      MissingFolders.remove(newFolders)
    }
    close(descriptor)
    descriptor = -1
  }
}
