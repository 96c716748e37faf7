import Foundation
import Glibc
import MediaBridge
import MediaCore

/// Standard output and standard error of the process: one live line at the bottom, and lines above it that stay. Nobody
/// else writes there, and what is written here is printable but for the control codes of this type.
final class Terminal: Sendable {
  static let shared = Terminal()

  private let isTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether a line on standard error would break the live line.
  private let sharesScreen = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1
  private let live = Locked<PrintableText?>(nil)
  private static let clear = "\r\u{1b}[K"

  /// What is told must not end what it tells of: a reader that has gone is an error of `write`, not a signal.
  /// So is a file that has reached its largest size (`ulimit -f`).
  private init() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// What cannot be written is nobody's concern: what it tells of goes on.
  private func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) { _ = put(text, to: descriptor) }

  /// Written at once and whole, so that a reader behind a pipe has each line when it is said.
  /// - Returns: why not all of it was written, as `errno` says it.
  private func put(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      rest = rest.dropFirst(count)
    }
    return nil
  }

  /// Whether a line is read, or kept for its reader, at once: behind a pipe that nobody reads, or a terminal that is held,
  /// it would wait.
  var hasRoom: Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&output, 1, 0) != 0
  }

  /// A line that stays, or on a terminal as much of it as fits.
  func say(_ line: PrintableText, isFitted: Bool = false) {
    live.withLock { live in
      live = nil
      write(isTerminal ? "\(Self.clear)\(isFitted ? fitted(line) : line.description)\n" : "\(line)\n")
    }
  }

  /// Text that somebody asked for, such as a template: to a file or a program byte by byte, to a terminal in lines that
  /// can be read.
  /// - Throws: why not all of it was written. A reader that has gone has enough.
  func copy(_ text: String) throws(LiveKitError) {
    guard isTerminal else {
      guard let number = put(text + "\n", to: STDOUT_FILENO), number != EPIPE else { return }
      throw LiveKitError(.output, "standard output: \(String(cString: strerror(number)))", fault: .destination)
    }
    for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
      say(PrintableText(String(line).replacing("\t", with: "    "), limit: .max))
    }
  }

  /// The line at the bottom, as much of it as fits; only on a terminal, and where it has not to wait: the next one comes
  /// soon.
  func showLive(_ line: PrintableText) {
    guard isTerminal, hasRoom else { return }
    live.withLock { live in
      live = line
      write(Self.clear + fitted(line))
    }
  }

  func endLive() {
    live.withLock { live in
      if live != nil { write("\n") }
      live = nil
    }
  }

  /// - Returns: whether there is a screen.
  func clearScreen() -> Bool {
    if isTerminal { write("\u{1b}[2J\u{1b}[H") }
    return isTerminal
  }

  /// A line on standard error, above the live line.
  func warn(_ line: PrintableText) {
    live.withLock { live in
      guard sharesScreen, let shown = live else { return write("\(line)\n", to: STDERR_FILENO) }
      write("\(Self.clear)\(line)\n", to: STDERR_FILENO)
      write(fitted(shown))
    }
  }

  /// A line that wraps could not be erased. The window may have another width each time.
  private func fitted(_ line: PrintableText) -> String {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return line.description }
    return line.prefix(columns: Int(size.ws_col))
  }
}
