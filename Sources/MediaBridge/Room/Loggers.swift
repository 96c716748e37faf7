import Logging

/// Where the parts of a room log what they do. The one place that makes loggers.
struct Loggers: Sendable {
  let room: Logger
  let tracks: Logger
  let transport: Logger
  let playback: Logger
  let pipelines: Logger

  /// - Parameter one: gets everything, and the part as metadata; nil for one logger a part, such as `mediabridge.room`.
  init(_ one: Logger? = nil) {
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
  }
}
