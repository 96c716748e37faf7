import Egress
import PipelineTemplates

/// A job of a room.
struct RunJob {
  /// What it is about.
  enum Work {
    case record(RunRecording)
    case raw(any RawCommand)
  }

  let name: String
  let room: String
  var work: Work
  /// As it stands in the file, without what could not be done of it.
  var given: RunReader.Given

  var recording: RunRecording? { if case .record(let recording) = work { recording } else { nil } }
  var raw: RawArguments? { if case .raw(let command) = work { command.raw } else { nil } }
  var sendsMessages: Bool { raw?.reply == .data }

  /// What each destination is fed.
  /// - Throws: what is wrong with it that can be known without a room.
  func feeds() throws -> [RunFeeds] {
    switch work {
    case .record(let recording): try recording.feeds().map(RunFeeds.init)
    case .raw(let command): [try RunFeeds(command)]
    }
  }

  /// Places that nobody else can write at the same time.
  var places: Set<String> {
    switch work {
    case .record(let recording): Set(recording.arguments.destination)
    case .raw(let command):
      Set([command.raw.exec.map { "| \($0)" } ?? command.raw.destination, command.raw.info ?? ""]).subtracting([""])
    }
  }

  /// Files and folders that are its own from the beginning on: not those that are named by what comes, nor devices.
  var files: [String] {
    let all: [String]
    switch work {
    case .record(let recording): all = recording.arguments.targets.filter(\.isFile).map(\.location)
    case .raw(let command): all = command.raw.files
    }
    return all.filter { !$0.contains("{") && !$0.hasPrefix("/dev/") }
  }

  /// Whether it writes that file, too.
  func writes(_ file: String) -> Bool { files.contains { $0.standardPath == file.standardPath } }

  // MARK: Destinations

  /// A destination of a recording: as the file says it, and as it is asked for.
  typealias Place = (item: RunItem, output: OutputDestination)

  /// Nil where it records nothing.
  var outputs: [Place]? {
    guard let outputs = try? recording?.prepared().options.destinations else { return nil }
    return zip(given["destinations"] ?? [], outputs).map { (item: $0, output: $1) }
  }

  /// The same, with other destinations.
  func going(to items: [RunItem]) -> RunJob {
    guard var recording = self.recording else { return self }
    (recording.arguments.destination, recording.destinationValues) = (items.map(\.text), items.map(\.values))
    var job = self
    job.work = .record(recording)
    job.given["destinations"] = items
    return job
  }

  // MARK: Differences

  /// What may be another one while it goes on: where it goes, and how a mixed room is laid out.
  func isSame(but other: RunJob) -> Bool {
    var (own, others) = (given, other.given)
    if recording != nil, other.recording != nil { (own["destinations"], others["destinations"]) = (nil, nil) }
    if layoutFile != nil, other.layoutFile != nil { (own["composite"], others["composite"]) = (nil, nil) }
    return own == others && room == other.room
  }

  func isSame(as other: RunJob) -> Bool { given == other.given && room == other.room && layout == other.layout }

  var layout: CompositeLayout? {
    switch work {
    case .record(let recording): recording.arguments.composite.layout
    case .raw(let command): (command as? FramesCommand)?.composite.layout
    }
  }

  /// The file that says how a mixed room is laid out, where one does.
  var layoutFile: String? {
    guard case .own? = layout else { return nil }
    return given["composite"]?.first?.text
  }
}
