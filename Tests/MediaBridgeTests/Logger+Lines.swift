import BridgeTesting
import Logging

extension Logger {
  /// Keeps what is logged: message and metadata of each line.
  init(keeping lines: Collector<String>) {
    self.init(keeping: lines, .info) { event, _ in "\(event.message) \(event.metadata ?? [:])" }
  }

  /// - Parameter line: what is kept of an event, and of the metadata that the logger has itself.
  init<Line: Sendable>(
    label: String = "test", keeping lines: Collector<Line>, _ level: Logger.Level,
    _ line: @escaping @Sendable (LogEvent, Logger.Metadata) -> Line
  ) {
    self.init(label: label) { _ in LineKeeper(logLevel: level) { lines.add(line($0, $1)) } }
  }
}

private struct LineKeeper: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  let keep: @Sendable (LogEvent, Logger.Metadata) -> Void

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { keep(event, metadata) }
}
