import Dispatch
import Egress
import Foundation
import MediaBridge

/// Takes connections on a path, for this user alone.
///
/// `@unchecked Sendable`: the source is made in `start`, before anybody else knows it.
final class UnixListener: @unchecked Sendable {
  /// Until somebody is tried again who could not be taken, in microseconds.
  private static let pause: UInt32 = 100_000

  private let path: String
  private let descriptor: Int32
  /// Made for it, the innermost first.
  private let newFolders: [String]
  private let queue = DispatchQueue(label: "mediabridge.listener")
  private let gone = DispatchSemaphore(value: 0)
  private var source: (any DispatchSourceRead)?

  /// - Parameter scheme: what stands in front of the path where it is named as a destination.
  /// - Throws: where nobody can listen there. Folders that are missing are made.
  init(_ path: String, scheme: String) throws(LiveKitError) {
    self.path = path
    var address = try Self.address(path, scheme)
    newFolders = try MissingFolders.make(for: path)
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    // For this user alone: what is said in a room is nobody else's.
    fchmod(descriptor, 0o600)
    Self.removeLeftOver(path, &address)
    let isBound = address.withSockaddr { bind(descriptor, $0, $1) }
    guard isBound == 0, listen(descriptor, 16) == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      MissingFolders.remove(newFolders)
      throw LiveKitError(.output, "\(scheme):\(path): nobody can listen there: \(reason)", fault: .destination)
    }
  }

  /// - Throws: nobody could listen on such a path.
  static func check(_ path: String, scheme: String) throws(LiveKitError) { _ = try address(path, scheme) }

  private static func address(_ path: String, _ scheme: String) throws(LiveKitError) -> sockaddr_un {
    guard !path.isEmpty else {
      throw LiveKitError(.invalidParameter, "'\(scheme):' lacks the path of its socket: write \(scheme):PATH")
    }
    guard let address = sockaddr_un(path) else {
      throw LiveKitError(
        .invalidParameter, "\(scheme):\(path): a socket's path has 107 bytes at most; give a shorter one")
    }
    return address
  }

  /// Of one that was killed: nobody listens there.
  private static func removeLeftOver(_ path: String, _ address: inout sockaddr_un) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    if address.withSockaddr({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED { unlink(path) }
  }

  /// - Parameter accept: called with each connection, one after the other.
  func start(_ accept: @escaping @Sendable (Int32) -> Void) {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [descriptor] in
      let reader = Glibc.accept(descriptor, nil, nil)
      // Where all descriptors are in use whoever comes waits, and this would be called again and again.
      guard reader >= 0 else {
        usleep(Self.pause)
        return
      }
      _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
      accept(reader)
    }
    source.setCancelHandler { [descriptor, path, newFolders, gone] in
      close(descriptor)
      unlink(path)
      MissingFolders.remove(newFolders)
      gone.signal()
    }
    source.resume()
    self.source = source
  }

  /// Nobody is called any more when this returns, and the path is free.
  func stop() {
    guard let source else { return }
    source.cancel()
    // Dispatch does so by way of another thread. Whoever stops it again waits for nothing.
    gone.wait()
    gone.signal()
  }
}

extension sockaddr_un {
  /// Nil for a path that has no room in it.
  fileprivate init?(_ path: String) {
    self.init()
    sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let hasRoom = withUnsafeMutableBytes(of: &sun_path) { room in
      guard bytes.count < room.count, !bytes.isEmpty else { return false }
      room.copyBytes(from: bytes)
      return true
    }
    guard hasRoom else { return nil }
  }

  fileprivate mutating func withSockaddr(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    withUnsafePointer(to: &self) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
