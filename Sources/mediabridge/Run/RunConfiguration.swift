import ArgumentParser
import Egress
import MediaBridge
import PipelineTemplates

/// What a file asks for: rooms, and jobs in them.
struct RunConfiguration {
  var rooms: [RunRoom] = []
  var jobs: [RunJob] = []

  func room(of job: RunJob) -> RunRoom? { rooms.first { $0.name == job.room } }

  /// The files besides it that it is made of.
  var files: [String] { jobs.compactMap(\.layoutFile) }
}

/// A room that jobs share.
struct RunRoom {
  let name: String
  let access: RoomArguments
  /// For the templates that receive.
  let receiveValues: [String: String]
  /// As it stands in the file.
  let given: RunReader.Given

  /// Every job subscribes to what it needs, as large as it needs it; one that records asks for all of it.
  var options: RoomOptions {
    access.roomOptions(autoSubscribe: false, adaptiveStream: true, receiveValues: receiveValues)
  }
}

/// A job of a room.
struct RunJob {
  let name: String
  let room: String
  var recording: RecordingArguments
  var destinationValues: [[String: String]]
  /// As it stands in the file.
  let given: RunReader.Given

  /// What is asked for, with what is set for single destinations.
  /// - Parameter used: how often this process has written a location already: what is there is not written over.
  func prepared(besides used: [String: Int] = [:]) throws -> RecordingArguments.Prepared {
    var prepared = try recording.prepared()
    for (index, values) in destinationValues.enumerated() {
      prepared.options.destinations[index].values.merge(values) { $1 }
      let destination = prepared.options.destinations[index].destination
      guard let takes = used[destination.location] else { continue }
      prepared.options.destinations[index].location = destination.take(after: takes).location
      prepared.templates[index] = try OutputTemplates(
        of: prepared.options.destinations[index], encode: recording.encode, folder: recording.access.pipelines)
    }
    return prepared
  }

  /// What each destination is fed.
  /// - Throws: what is wrong with it that can be known without a room.
  func feeds() throws -> [OutputFeeds] {
    let prepared = try prepared()
    let folder = recording.access.pipelines
    if let name = prepared.receiveValues.keys.min() {
      throw ValidationError("--set \(name): that is of what receives, which jobs share: set it in the room")
    }
    if let layout = recording.composite.layout {
      return try OutputFeeds.of(recording.composite.options(layout, prepared.options), folder: folder)
    }
    if let unit = recording.each { try RecorderGroup.check(prepared.options, each: unit) }
    return try OutputFeeds.of(prepared.options, prepared.templates, folder: folder)
  }

  // MARK: Differences

  /// What may be another one while it goes on: where it goes, and how a mixed room is laid out.
  func isSame(but other: RunJob) -> Bool {
    var (own, others) = (given, other.given)
    own["destinations"] = nil
    others["destinations"] = nil
    if layoutFile != nil, other.layoutFile != nil { (own["composite"], others["composite"]) = (nil, nil) }
    return own == others && room == other.room
  }

  func isSame(as other: RunJob) -> Bool {
    given == other.given && room == other.room && recording.composite.layout == other.recording.composite.layout
  }

  /// The file that says how a mixed room is laid out, where one does.
  fileprivate var layoutFile: String? {
    guard case .own? = recording.composite.layout else { return nil }
    return given["composite"]?.first?.text
  }
}

extension Destination {
  /// Where something is written that was written before: a name that holds the time is another one by itself.
  fileprivate func take(after takes: Int) -> Destination {
    guard isFile, !["{time}", "{utc}"].contains(where: location.contains) else { return self }
    return nextPart(after: takes)
  }
}
