import Dispatch
import Egress
import Foundation
import MediaCore

/// What a command prints, read as it comes, and no faster than messages may be sent.
///
/// `@unchecked Sendable`: the source is made in `init`, and the descriptor is read on one queue.
final class ChildOutput: @unchecked Sendable {
  private static let block = 16_384
  /// What is still in the pipe when the command has ended: 64 kB, unless something that it has begun goes on.
  private static let most = 64
  private static let pause: UInt32 = 20_000

  private let descriptor: Int32
  private let take: @Sendable (ReplyLines.Outcome) -> Void
  private let lines: Locked<ReplyLines>
  private let queue = DispatchQueue(label: "mediabridge.replies")
  private let source: any DispatchSourceRead

  /// - Parameters:
  ///   - descriptor: is closed when it has ended.
  ///   - form: what its lines are.
  ///   - take: called with each line, in order.
  init(_ descriptor: Int32, _ form: ReplyLines.Form, take: @escaping @Sendable (ReplyLines.Outcome) -> Void) {
    (self.descriptor, self.take, lines) = (descriptor, take, Locked(ReplyLines(form)))
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in
      if let self, !self.read() { self.source.cancel() }
    }
    source.resume()
  }

  /// - Returns: whether more may come.
  private func read() -> Bool {
    var bytes = [UInt8](repeating: 0, count: Self.block)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { return count < 0 && errno == EINTR }
    let outcomes = lines.withLock { $0.take(bytes[..<count], at: .now) }
    outcomes.forEach(take)
    // A command that floods waits for its pipe.
    if outcomes.contains(.dropped) { usleep(Self.pause) }
    return true
  }

  /// Reads what is left of a command that has ended.
  func finish() {
    queue.sync {
      guard !source.isCancelled else { return }
      for _ in 0..<Self.most where !read() { break }
      source.cancel()
    }
    if let last = lines.withLock({ $0.end(at: .now) }) { take(last) }
  }
}
