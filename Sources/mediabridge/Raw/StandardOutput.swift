import Foundation
import MediaBridge

/// Standard output where it carries media: all else that the program says goes to standard error then.
enum StandardOutput {
  /// To be called before anything is said.
  /// - Returns: where media is written.
  /// - Throws: standard output is a terminal.
  static func claim() throws(LiveKitError) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    guard isatty(STDOUT_FILENO) == 0 else {
      throw LiveKitError(
        .invalidParameter, "standard output is a terminal; give a destination, or pipe it into a program that reads it")
    }
    let descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10)
    guard descriptor >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
      throw RawDescriptor.failure("standard output")
    }
    return descriptor
  }
}
