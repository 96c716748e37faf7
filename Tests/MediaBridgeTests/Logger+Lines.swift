import BridgeTesting
import Logging

extension Logger {
  /// Keeps what is logged: message and metadata of each line.
  init(keeping lines: Collector<String>) { self.init(label: "test") { _ in LineKeeper(lines: lines) } }
}

private struct LineKeeper: LogHandler {
  let lines: Collector<String>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata ?? [:])") }
}
