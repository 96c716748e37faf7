import Foundation
import Glibc

/// What is written to the process.
enum StandardInput {
  private static let most = 65_536

  /// As they come, until it is closed. Nothing else may read them.
  static func lines() -> AsyncStream<String> {
    // Who reads a terminal in the background would be stopped.
    signal(SIGTTIN, SIG_IGN)
    return AsyncStream { continuation in
      // It waits in `read`, and holds no lock that the end of the process would wait for.
      Thread.detachNewThread {
        var rest: [UInt8] = []
        while let bytes = next() {
          rest += bytes
          while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
            rest.removeSubrange(...end)
          }
          // No command is as long; what is left of the line is none either.
          if rest.count > most { rest = [UInt8(ascii: "?")] }
        }
        // The last line may have no end.
        if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
        continuation.finish()
      }
    }
  }

  private static func next() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count > 0 { return Array(buffer[..<count]) }
      guard count < 0 else { return nil }
      switch errno {
      case EINTR: continue
      // In the background; it may be in front again.
      case EIO where isatty(STDIN_FILENO) == 1: sleep(1)
      default: return nil
      }
    }
  }
}
