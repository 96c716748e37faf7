package import Logging

/// Where the parts of a room log what they do. The one place that makes loggers.
package struct Loggers: Sendable {
  let room: Logger
  let tracks: Logger
  let transport: Logger
  let playback: Logger
  /// What is said of templates.
  package let pipelines: Logger
  /// What is said of recordings and streams.
  package let output: Logger

  /// - Parameter one: gets everything, and the part as metadata; nil for one logger a part, such as `mediabridge.room`.
  package init(_ one: Logger? = nil) {
    func logger(_ part: String) -> Logger {
      guard var one else { return Logger(label: "mediabridge.\(part)") }
      one[metadataKey: "part"] = "\(part)"
      return one
    }
    room = logger("room")
    tracks = logger("tracks")
    transport = logger("transport")
    playback = logger("playback")
    pipelines = logger("pipelines")
    output = logger("output")
  }
}
