import MediaBridge
import Yams

// Jobs, of all kinds.
extension RunFile {
  mutating func readJob(_ name: String, _ mark: Mark?, _ value: Node, _ rooms: [String]) {
    var kind = RunKind.record
    if value.mapping != nil, let node = value["kind"] {
      guard let word = reader.word(node, "kind", RunKey<RunJobDraft>.kind.form), let known = RunKind(rawValue: word)
      else { return }
      kind = known
    }
    switch kind {
    case .record: readRecording(name, mark, value, rooms)
    case .frames: readRaw(name, mark, value, rooms, RunRawDraft(command: plain.frames), by: RunKey.all, kind)
    case .pcm: readRaw(name, mark, value, rooms, RunRawDraft(command: plain.pcm), by: RunKey.all, kind)
    }
  }

  private mutating func readRecording(_ name: String, _ mark: Mark?, _ value: Node, _ rooms: [String]) {
    var draft = RunJobDraft(recording: plain.recording)
    draft.recording.destination = []
    let before = reader.mistakes.count
    let places = reader.read(value, of: "a job", by: RunKey.all, into: &draft, hint: RunKind.record.hint)
    if value.mapping != nil, places.keys["destinations"] == nil {
      reader.note(mark, "`destinations` is missing: say where '\(name)' goes, such as talk.mp4")
    }
    let room = checkRoom(draft.room, places.items["room"]?.last?.mark ?? mark, rooms)
    guard reader.mistakes.count == before, let room else {
      // What else is wrong may come of that.
      return note(draft.recording.exclusions, places, mark)
    }
    let access = access(to: room)
    if let access { draft.recording.access = access }
    let recording = RunRecording(arguments: draft.recording, destinationValues: draft.destinationValues)
    add(RunJob(name: name, room: room, work: .record(recording), given: places.given), places, mark)
  }

  private mutating func readRaw<Command>(
    _ name: String, _ mark: Mark?, _ value: Node, _ rooms: [String], _ draft: RunRawDraft<Command>,
    by keys: [RunKey<RunRawDraft<Command>>], _ kind: RunKind
  ) {
    var draft = draft
    let before = reader.mistakes.count
    let places = reader.read(value, of: "a job", by: keys, into: &draft, hint: kind.hint)
    if places.keys["destination"] == nil, places.keys["exec"] == nil {
      reader.note(mark, "`destination` is missing: say where '\(name)' goes, such as unix:\(name).sock, or give `exec`")
    }
    let room = checkRoom(draft.room, places.items["room"]?.last?.mark ?? mark, rooms)
    guard reader.mistakes.count == before, let room else { return }
    if let access = access(to: room) { draft.command.raw.access = access }
    if draft.command.raw.usesStandardOutput { outputs.append((name, places.keys["destination"])) }
    add(RunJob(name: name, room: room, work: .raw(draft.command), given: places.given), places, mark)
  }

  /// Nil where something is wrong with the room.
  private func access(to room: String) -> RoomArguments? { configuration.rooms.first { $0.name == room }?.access }

  private mutating func add(_ job: RunJob, _ places: RunPlaces, _ mark: Mark?) {
    note(job.mistakes(inRoom: access(to: job.room) != nil) + collisions(of: job), places, mark)
    configuration.jobs.append(job)
    guard job.sendsMessages, let index = configuration.rooms.firstIndex(where: { $0.name == job.room }),
      !configuration.rooms[index].access.hasToken
    else { return }
    configuration.rooms[index].sendsMessages = true
  }

  /// What it would write over of the jobs before it.
  private func collisions(of job: RunJob) -> [String] {
    job.files.compactMap { file in
      configuration.jobs.first { $0.writes(file) }.map { other in
        "'\(file)' is that of '\(other.name)' already: two jobs cannot write into one; give another name here"
      }
    }
  }

  /// - Parameter messages: of a command, about a job.
  private mutating func note(_ messages: [String], _ places: RunPlaces, _ mark: Mark?) {
    let keys = RunKind.allKeys + RunKey<RunRoomDraft>.all.map(\.name)
    for message in messages { reader.note(places.mark(of: message) ?? mark, RunPlaces.inWords(message, keys)) }
  }

  /// - Returns: nil where it is not known which, or there is none of that name, which is noted.
  private mutating func checkRoom(_ name: String?, _ mark: Mark?, _ rooms: [String]) -> String? {
    if let name {
      if rooms.contains(name) { return name }
      if !rooms.isEmpty { reader.refuse(name, mark, besides: rooms, in: "`rooms`") }
      return nil
    }
    if rooms.count > 1 { reader.note(mark, "`room` is missing: say which of \(rooms.joined(separator: ", "))") }
    return rooms.count == 1 ? rooms[0] : nil
  }

  /// There is one standard output.
  mutating func checkOutputs() {
    for output in outputs.dropFirst() {
      reader.note(
        output.mark,
        "`destination`: standard output is that of '\(outputs[0].job)' already; give a pipe or a socket here")
    }
  }
}

extension RunJob {
  /// What is wrong beyond single values, in the words of the command.
  /// - Parameter isInRoom: whether the room says which templates there are.
  func mistakes(inRoom isInRoom: Bool) -> [String] {
    var messages = recording?.arguments.exclusions ?? []
    for check in checks(inRoom: isInRoom) { do { try check() } catch { messages.append("\(error)") } }
    guard messages.isEmpty, isInRoom else { return messages }
    do { _ = try feeds() } catch { messages.append("\(error)") }
    return messages
  }

  private func checks(inRoom isInRoom: Bool) -> [() throws -> Void] {
    switch work {
    case .record(let recording):
      let arguments = recording.arguments
      return [
        arguments.set.validate, arguments.composite.scenery.validate, arguments.composite.validate,
        arguments.files.validate, arguments.encoding.validate, arguments.checkUse,
      ]
    case .raw(let command):
      let composite = (command as? FramesCommand)?.composite
      return [
        command.raw.set.validate, { try composite?.scenery.validate() }, { try composite?.validate() },
        command.raw.validate, { if isInRoom { try command.check() } },
      ]
    }
  }
}
