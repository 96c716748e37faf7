import Dispatch
import Egress
import Foundation
import MediaBridge
import MediaCore

/// A Unix socket, on which any number of readers may come and go. Each gets what is made from then on, and none waits for
/// another.
final class SocketOutput: RawReceiver {
  private struct State {
    var header: [UInt8]?
    /// What each reader is to know.
    var needed: [RawPiece] = []
    var readers: [RawOutput] = []
    /// Who came before there was a header.
    var waiting: [Int32] = []
    var written = 0
    /// For those who have gone.
    var dropped = 0
    var isOver = false
  }

  let name: String
  private let path: String
  private let limits: RawQueue<InfoFields>.Limits
  private let tell: @Sendable (RawOutput.Fate, InfoFields) -> Void
  private let state = Locked(State())
  private let listener: Listener

  /// - Throws: where nobody can listen there.
  init(
    _ path: String, limits: RawQueue<InfoFields>.Limits,
    tell: @escaping @Sendable (RawOutput.Fate, InfoFields) -> Void
  ) throws(LiveKitError) {
    (name, self.path, self.limits, self.tell) = ("unix:\(path)", path, limits, tell)
    listener = try Listener(path)
    listener.start { [weak self] in self?.accept($0) }
  }

  var failure: LiveKitError? { nil }
  var counts: (written: Int, dropped: Int) {
    state.withLock { state in
      (state.written, state.readers.reduce(state.dropped) { $0 + $1.counts.dropped })
    }
  }

  func begin(header: [UInt8]) {
    let waiting = state.withLock { state in
      state.header = header
      defer { state.waiting = [] }
      return state.waiting
    }
    waiting.forEach(accept)
  }

  private func accept(_ descriptor: Int32) {
    let reader = RawOutput(DescriptorSink(descriptor, name: name), limits: limits) { _, _ in }
    state.withLock { state in
      guard let header = state.header else { return state.waiting.append(descriptor) }
      reader.begin(header: header)
      state.needed.forEach(reader.put)
      state.readers.append(reader)
    }
  }

  func put(_ piece: RawPiece) {
    let (readers, gone, number) = state.withLock { state -> ([RawOutput], [RawOutput], Int) in
      let gone = state.readers.filter { $0.failure != nil }
      state.dropped += gone.reduce(0) { $0 + $1.counts.dropped }
      state.readers.removeAll { $0.failure != nil }
      if piece.isNeeded { state.needed.append(piece) }
      defer { state.written += piece.note == nil ? 0 : 1 }
      return (state.readers, gone, state.written)
    }
    if let note = piece.note { tell(.written(number: number), note) }
    for reader in readers { reader.put(piece) }
    for reader in gone { Task { await reader.finish(within: .zero) } }
  }

  func finish(within patience: Duration) async {
    let readers = state.withLock { state in
      defer { state.isOver = true }
      return state.isOver ? [] : state.readers
    }
    listener.stop()
    await withTaskGroup { group in
      for reader in readers { group.addTask { await reader.finish(within: patience) } }
    }
  }
}

/// Takes connections on a path.
///
/// `@unchecked Sendable`: the source is made in `start`, before anybody else knows it.
private final class Listener: @unchecked Sendable {
  private let path: String
  private let descriptor: Int32
  private let queue = DispatchQueue(label: "mediabridge.listener")
  private var source: (any DispatchSourceRead)?

  init(_ path: String) throws(LiveKitError) {
    self.path = path
    guard var address = sockaddr_un(path) else {
      throw LiveKitError(.invalidParameter, "unix:\(path): a socket's path has 107 bytes at most; give a shorter one")
    }
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    // For this user alone: what is said in a room is nobody else's.
    fchmod(descriptor, 0o600)
    Self.removeLeftOver(path, &address)
    let isBound = address.withSockaddr { bind(descriptor, $0, $1) }
    guard isBound == 0, listen(descriptor, 16) == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw LiveKitError(.output, "unix:\(path): nobody can listen there: \(reason)", fault: .destination)
    }
  }

  /// Of one that was killed: nobody listens there.
  private static func removeLeftOver(_ path: String, _ address: inout sockaddr_un) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    if address.withSockaddr({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED { unlink(path) }
  }

  func start(_ accept: @escaping @Sendable (Int32) -> Void) {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [descriptor] in
      let reader = Glibc.accept(descriptor, nil, nil)
      guard reader >= 0 else { return }
      _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
      accept(reader)
    }
    source.setCancelHandler { [descriptor, path] in
      close(descriptor)
      unlink(path)
    }
    source.resume()
    self.source = source
  }

  func stop() {
    source?.cancel()
    queue.sync {}
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
