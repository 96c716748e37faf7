import Foundation
import Glibc
import MediaCore

/// Standard output and standard error of the process: one live line at the bottom, and lines above it that stay.
final class Terminal: Sendable {
  static let shared = Terminal()

  private let isTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether a line on standard error would break the live line.
  private let sharesScreen = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1
  private let live = Locked("")
  private static let clear = "\r\u{1b}[K"

  /// What is told must not end what it tells of: a reader that has gone is an error of `write`, not a signal.
  private init() { signal(SIGPIPE, SIG_IGN) }

  /// Written at once and whole, so that a reader behind a pipe has each line when it is said.
  private func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// A line that stays.
  func say(_ text: String) {
    live.withLock { live in
      live = ""
      write(isTerminal ? "\(Self.clear)\(text)\n" : text + "\n")
    }
  }

  /// The line at the bottom; only on a terminal.
  func showLive(_ text: String) {
    guard isTerminal else { return }
    live.withLock { live in
      live = text
      write(Self.clear + text)
    }
  }

  func endLive() {
    live.withLock { live in
      if !live.isEmpty { write("\n") }
      live = ""
    }
  }

  func clearScreen() {
    if isTerminal { write("\u{1b}[2J\u{1b}[H") }
  }

  /// A line on standard error, above the live line.
  func warn(_ text: String) {
    live.withLock { live in
      write(sharesScreen && !live.isEmpty ? "\(Self.clear)\(text)\n" : text + "\n", to: STDERR_FILENO)
      if sharesScreen && !live.isEmpty { write(live) }
    }
  }
}
