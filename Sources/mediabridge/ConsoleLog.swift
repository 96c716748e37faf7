import Foundation
import Logging
import MediaCore

/// Shows what the library logs on standard error, one line each.
struct ConsoleLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  private let label: String

  private init(label: String, level: Logger.Level) {
    self.label = label
    logLevel = level
  }

  /// From here on, for every logger that is made. Called once, before the library is used.
  static func start(isVerbose: Bool) {
    LoggingSystem.bootstrap { ConsoleLog(label: $0, level: isVerbose ? .debug : .warning) }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let values = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.quoted("\($0.value)"))" }.joined()
    Terminal.shared.warn(PrintableText("\(Self.time()) \(event.level) \(label): \(event.message)\(values)"))
  }

  /// So that one sees where it ends.
  private static func quoted(_ value: String) -> String {
    value.isEmpty || value.contains(where: \.isWhitespace) ? "\"\(value)\"" : value
  }

  private static func time() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var parts = tm()
    localtime_r(&now.tv_sec, &parts)
    return String(
      format: "%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1_000_000)
  }
}
