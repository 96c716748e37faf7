import Foundation
import Glibc
import MediaBridge
import MediaCore

/// Standard output and standard error of the process: one live line at the bottom, and lines above it that stay. Nobody
/// else writes there, and what is written here is printable but for the control codes of this type. Who tells something
/// waits for no reader.
final class Terminal: Sendable {
  static let shared = Terminal()

  private let isTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether a line on standard error would break the live line.
  private let sharesScreen = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1
  /// Held while what it leads to is handed over, so that lines come in its order.
  private let live = Locked<PrintableText?>(nil)
  private let output: OutputQueue
  /// The same one where both come to the same place.
  private let errors: OutputQueue
  /// Also told of each line that standard error has on the screen.
  private let warned = Locked<(@Sendable (PrintableText) -> Void)?>(nil)
  private static let clear = "\r\u{1b}[K"

  /// What is told must not end what it tells of: a reader that has gone is an error of `write`, not a signal.
  /// So is a file that has reached its largest size (`ulimit -f`).
  private init() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    output = OutputQueue { Terminal.shared.tellLoss(of: $0, "standard output") }
    errors =
      sharesScreen || Terminal.isOneFile ? output : OutputQueue { Terminal.shared.tellLoss(of: $0, "standard error") }
    // However it ends: ArgumentParser ends it by `exit`, too.
    atexit { Terminal.shared.finish() }
  }

  private static var isOneFile: Bool {
    var output = stat()
    var errors = stat()
    guard fstat(STDOUT_FILENO, &output) == 0, fstat(STDERR_FILENO, &errors) == 0 else { return false }
    return output.st_dev == errors.st_dev && output.st_ino == errors.st_ino
  }

  /// Returns when all that was said is read, or its readers read no more. To be called before the process ends, but for
  /// `exit`, which calls it.
  func finish() {
    let lost = output.finish()
    guard errors !== output else { return }
    if lost > 0 { tellLoss(of: lost, "standard output") }
    _ = errors.finish()
  }

  private func tellLoss(of count: Int, _ place: String) {
    warn(PrintableText("mediabridge: \(place) was not read: \(count) line\(count == 1 ? " is" : "s are") left out"))
  }

  /// Whether nobody can read standard output any more.
  var readerHasGone: Bool { output.readerHasGone }

  @discardableResult
  private func write(_ text: String, isPassing: Bool = false) -> Bool {
    output.write(text, to: STDOUT_FILENO, isPassing: isPassing)
  }

  /// A line that stays, or on a terminal as much of it as fits.
  /// - Parameter isPassing: whether the next one says more than this, which is left out where it is not read.
  func say(_ line: PrintableText, isFitted: Bool = false, isPassing: Bool = false) {
    live.withLock { live in
      live = nil
      let text = isTerminal ? "\(Self.clear)\(isFitted ? fitted(line) : line.description)\n" : "\(line)\n"
      write(text, isPassing: isPassing)
    }
  }

  /// Text that somebody asked for, such as a template: to a file or a program byte by byte, to a terminal in lines that
  /// can be read. It is all that there is to do, so that it waits for its reader.
  /// - Throws: why not all of it was written. A reader that has gone has enough.
  func copy(_ text: String) throws(LiveKitError) {
    guard isTerminal else {
      guard let number = output.deliver(text + "\n", to: STDOUT_FILENO), number != EPIPE else { return }
      throw LiveKitError(.output, "standard output: \(String(cString: strerror(number)))", fault: .destination)
    }
    for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
      say(PrintableText(String(line).replacing("\t", with: "    "), limit: .max))
    }
    drain()
  }

  /// Returns when what was said is read, however long that takes: for commands that do nothing but tell.
  func drain() { _ = output.deliver("", to: STDOUT_FILENO) }

  /// The line at the bottom, as much of it as fits; only on a terminal, and where it is read: the next one comes soon.
  func showLive(_ line: PrintableText) {
    guard isTerminal else { return }
    live.withLock { live in
      if write(Self.clear + fitted(line), isPassing: true) { live = line }
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
      let shown = sharesScreen ? live : nil
      errors.write("\(shown == nil ? "" : Self.clear)\(line)\n", to: STDERR_FILENO)
      if let shown { write(fitted(shown)) }
    }
    let keep = sharesScreen ? warned.withLock { $0 } : nil
    keep?(line)
  }

  /// Has `keep` told of each line on standard error that stands on the screen: whoever empties that takes it away.
  func onWarning(_ keep: @escaping @Sendable (PrintableText) -> Void) { warned.withLock { $0 = keep } }

  /// A line that wraps could not be erased. The window may have another width each time.
  private func fitted(_ line: PrintableText) -> String {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return line.description }
    return line.prefix(columns: Int(size.ws_col))
  }
}
