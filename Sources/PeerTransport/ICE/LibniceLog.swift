import CNice
import Logging

/// libnice warns through GLib's log, which writes to standard error, of what a session can do without: a STUN server
/// whose name nobody knows, as on a network without DNS. Whoever reads this program's log is told instead.
enum LibniceLog {
  /// GLib keeps handlers for the whole process, so there is one, from the first agent on.
  static let isHeard: Void = {
    g_log_set_handler(
      "libnice", G_LOG_LEVEL_WARNING,
      { _, _, message, _ in
        LibniceLog.logger.info("libnice", metadata: ["warning": "\(message.map { String(cString: $0) } ?? "")"])
      }, nil)
  }()

  /// For any thread, on which GLib calls. The one logger here that is not passed in: GLib says neither which agent nor
  /// which room a warning is about, and the first room's logger would get those of all others.
  private static let logger = Logger(label: "mediabridge.transport")
}
