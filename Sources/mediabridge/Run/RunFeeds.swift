import ArgumentParser
import Egress

/// What a destination of a job is fed, for people.
struct RunFeeds {
  let location: String
  let lines: [String]
  let pipelines: [OutputFeeds.Filled]

  init(_ feeds: OutputFeeds) { (location, lines, pipelines) = (feeds.location, feeds.lines, feeds.pipelines) }

  /// - Throws: what is wrong with it that can be known without a room.
  init(_ command: any RawCommand) throws {
    let raw = command.raw
    let mixing = try (command as? FramesCommand)?.mixing
    if let name = try raw.values(isMixed: mixing != nil).receive.keys.min() { throw RunRecording.isOfRoom(name) }
    location = raw.exec ?? raw.shown
    lines = ["it gets \(command.product)" + (raw.each ? ", of each for themselves" : "")]
    pipelines = try mixing.map { try OutputFeeds.mixing($0, folder: raw.access.pipelines) } ?? []
  }
}

extension RunRecording {
  /// A value that a job cannot have.
  static func isOfRoom(_ variable: String) -> ValidationError {
    ValidationError("--set \(variable): that is of what receives, which jobs share: set it in the room")
  }
}
