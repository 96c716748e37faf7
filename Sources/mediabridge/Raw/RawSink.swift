import Egress
import Foundation
import MediaBridge
import MediaCore

/// Where pieces go. Called by one thread at a time, which may be held up for as long as it takes; but for `abandon`.
protocol RawSink: AnyObject, Sendable {
  /// For people.
  var name: String { get }
  /// How long it may take nothing at the end, at least. Where that is some time, it is a failure when it does not.
  var patience: Duration { get }
  /// Whether it is to hold all that comes, as a file or a folder of images is.
  var keepsAll: Bool { get }
  /// Whether it writes what is said beside the media.
  var takesText: Bool { get }
  /// Waits until there is a reader.
  /// - Parameter header: what the first reader gets before all else, and so does each that takes its place.
  func begin(header: [UInt8]) throws(LiveKitError)
  /// - Parameter number: how many were written before.
  func write(_ piece: RawPiece, number: Int) throws(LiveKitError)
  /// - Throws: why what was written is of no use.
  func end() throws(LiveKitError)
  /// From any thread: holds up nobody any more, where that can be had.
  func abandon() async
  /// Whether who reads has gone, as far as that is known without writing. From any thread.
  var isHungUp: Bool { get }
}

extension RawSink {
  var isHungUp: Bool { false }
  var patience: Duration { keepsAll ? RawDescriptor.diskPatience : .zero }
  var keepsAll: Bool { false }
  var takesText: Bool { false }
  func abandon() async {}
}

extension LiveKitError.Code {
  /// Whoever read has enough.
  static let readerGone = Self(rawValue: "readerGone")
}

/// Writing to a descriptor, whose reader may let it wait.
enum RawDescriptor {
  private static let silence = [UInt8](repeating: 0, count: 65_536)
  /// How long a disk may take nothing at the end: one of a network, or one that has slept, is away for a while.
  static let diskPatience = Duration.seconds(30)

  static func write(_ piece: RawPiece, to descriptor: Int32, of name: String) throws(LiveKitError) {
    switch piece.body {
    case .bytes(let bytes): try write(bytes[...], to: descriptor, of: name)
    case .silence(var count):
      while count > 0 {
        let part = min(count, silence.count)
        try write(silence[..<part], to: descriptor, of: name)
        count -= part
      }
    case .text: break
    }
  }

  static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, of name: String) throws(LiveKitError) {
    if let number = put(bytes, to: descriptor) { throw failure(name, number) }
  }

  /// Writes all of it, for which it waits as long as its reader lets it.
  /// - Returns: why not all of it was written, as `errno` says it.
  static func put(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      let number = count < 0 ? errno : count == 0 ? EIO : 0
      switch number {
      case 0: rest = rest.dropFirst(count)
      case EINTR: continue
      case EAGAIN:
        // Whoever gave us the descriptor has others read or write it, too.
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = Glibc.poll(&poll, 1, -1)
      default: return number
      }
    }
    return nil
  }

  /// Whether who is connected has gone.
  static func isHungUp(_ descriptor: Int32) -> Bool {
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    return Glibc.poll(&poll, 1, 0) > 0 && poll.revents & Int16(POLLHUP | POLLERR) != 0
  }

  /// Of one that nobody has opened, or taken anything from.
  static func unread(_ name: String) -> LiveKitError {
    LiveKitError(.output, "\(name): nobody has read any of it; begin its reader first", fault: .destination)
  }

  static func gone(_ name: String) -> LiveKitError {
    LiveKitError(.readerGone, "\(name): the reader has closed its end", fault: .destination)
  }

  /// - Parameter number: `errno` of what failed; that of the call that has just failed, where it is not given.
  static func failure(_ name: String, _ number: Int32 = errno) -> LiveKitError {
    if number == EPIPE || number == ECONNRESET { return gone(name) }
    let reason = number == ENOSPC ? "the disk is full" : String(cString: strerror(number))
    return LiveKitError(.output, "\(name): \(reason)", fault: .destination)
  }

  /// Of the call that has just failed to open or to name a file, in the words of `record`.
  static func failure(ofFile path: String) -> LiveKitError {
    let number = errno
    guard number != ENOSPC else { return failure(path, number) }
    return LiveKitError(
      .output, "\(path): no file can be written here (\(String(cString: strerror(number)))); choose another folder",
      fault: .destination)
  }
}
