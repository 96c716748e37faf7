import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates
import Yams

/// The file of `run`: read and checked as far as it can be without joining a room.
struct RunFile {
  /// All that is wrong with a file.
  struct Mistakes: Error {
    let all: [YAMLMistake]
  }

  private static let keys = ["rooms", "jobs"]
  /// More than a person writes.
  private static let largestFile = 1024 * 1024

  private var reader: RunReader
  private var configuration = RunConfiguration()
  /// With everything at its default.
  private let plain: RecordingArguments

  /// - Parameter plain: `defaults()`, for whoever reads many: to make them takes longer than to read a file.
  /// - Throws: `Mistakes`, in the order of lines.
  static func read(_ file: String, plain: RecordingArguments? = nil) throws -> RunConfiguration {
    var reading = RunFile(reader: RunReader(file: file), plain: try plain ?? Self.defaults())
    do throws(YAMLMistake) { reading.read(try node(of: file)) } catch { throw Mistakes(all: [error]) }
    let mistakes = reading.reader.mistakes
    guard mistakes.isEmpty else {
      throw Mistakes(all: mistakes.sorted { ($0.place ?? (0, 0)) < ($1.place ?? (0, 0)) })
    }
    return reading.configuration
  }

  private static func node(of file: String) throws(YAMLMistake) -> Node {
    let bytes: Data
    do { bytes = try Data(contentsOf: URL(fileURLWithPath: file)) } catch {
      throw YAMLMistake(file, nil, "it cannot be read: \(error.systemReason)")
    }
    guard bytes.count <= largestFile, let text = String(bytes: bytes, encoding: .utf8) else {
      throw YAMLMistake(file, nil, "give a YAML file in UTF-8 of at most 1 MB")
    }
    return try YAMLFile(file, holding: "configuration").parse(text)
  }

  /// What an empty job is; only its place is still to be named.
  static func defaults() throws -> RecordingArguments {
    var plain = try RecordingArguments.parse(["--url", "ws://localhost", "--token", "-", "a.mkv"])
    (plain.access.url, plain.access.token) = (nil, nil)
    return plain
  }

  private mutating func read(_ root: Node) {
    var parts: [String: (mark: Mark?, value: Node)] = [:]
    for (name, mark, value) in reader.pairs(root, of: "the file") {
      if Self.keys.contains(name) {
        parts[name] = (mark, value)
      } else {
        reader.refuse(name, mark, besides: Self.keys, in: "the file")
      }
    }
    for name in Self.keys where parts[name] == nil && root.mapping != nil {
      reader.note(root.mark, "`\(name)` is missing")
    }
    let (rooms, jobs) = (list("rooms", parts), list("jobs", parts))
    for (name, mark, value) in rooms { readRoom(name, mark, value) }
    for (name, mark, value) in jobs { readJob(name, mark, value, rooms.map(\.key)) }
  }

  /// The rooms or the jobs, by name.
  private mutating func list(
    _ name: String, _ parts: [String: (mark: Mark?, value: Node)]
  ) -> [(key: String, mark: Mark?, value: Node)] {
    guard let (mark, value) = parts[name] else { return [] }
    let count = reader.mistakes.count
    let list = reader.pairs(value, of: "`\(name)`")
    if list.isEmpty, reader.mistakes.count == count { reader.note(mark, "`\(name)` is empty: give one at least") }
    for (name, mark, _) in list where name.isEmpty || name.contains(where: { $0.isWhitespace || $0 == ":" }) {
      reader.note(mark, "'\(name)' is no name: write one word, since each line that is told begins with it")
    }
    return list
  }

  // MARK: Rooms

  private mutating func readRoom(_ name: String, _ mark: Mark?, _ value: Node) {
    var draft = RunRoomDraft(access: plain.access)
    let before = reader.mistakes.count
    let places = reader.read(value, of: "a room", by: RunKey.all, into: &draft)
    guard reader.mistakes.count == before else { return }
    var receiveValues: [String: String] = [:]
    do {
      try draft.access.templates.validate()
      try draft.access.validate()
      var set = plain.set
      set.pairs = draft.set
      try set.validate()
      let folder = draft.access.pipelines
      receiveValues = try set.values(for: [SetArguments.receiveTemplates(folder: folder)], folder: folder)[0]
    } catch {
      let message = "\(error)"
      return reader.note(
        places.mark(of: message) ?? mark, RunPlaces.inWords(message, RunKey<RunRoomDraft>.all.map(\.name)))
    }
    configuration.rooms.append(
      RunRoom(name: name, access: draft.access, receiveValues: receiveValues, given: places.given))
  }

  // MARK: Jobs

  private mutating func readJob(_ name: String, _ mark: Mark?, _ value: Node, _ rooms: [String]) {
    var draft = RunJobDraft(recording: plain)
    draft.recording.destination = []
    let before = reader.mistakes.count
    let places = reader.read(value, of: "a job", by: RunKey.all, into: &draft)
    if value.mapping != nil, places.keys["destinations"] == nil {
      reader.note(mark, "`destinations` is missing: say where '\(name)' goes, such as talk.mp4")
    }
    let room = checkRoom(draft.room, places.items["room"]?.last?.mark ?? mark, rooms)
    guard reader.mistakes.count == before, let room else {
      // What else is wrong may come of that.
      return note(draft.recording.exclusions, places, mark)
    }
    let access = configuration.rooms.first { $0.name == room }?.access
    if let access { draft.recording.access = access }
    let job = RunJob(
      name: name, room: room, recording: draft.recording, destinationValues: draft.destinationValues,
      given: places.given)
    note(job.mistakes(inRoom: access != nil), places, mark)
    configuration.jobs.append(job)
  }

  /// - Parameter messages: of `record`, about a job.
  private mutating func note(_ messages: [String], _ places: RunPlaces, _ mark: Mark?) {
    let keys = RunKey<RunJobDraft>.all.map(\.name)
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
}

extension RunJob {
  /// What is wrong beyond single values, in the words of `record`.
  /// - Parameter isInRoom: whether the room says which templates there are.
  func mistakes(inRoom isInRoom: Bool) -> [String] {
    let checks: [() throws -> Void] = [
      recording.set.validate, recording.composite.scenery.validate, recording.composite.validate,
      recording.files.validate, recording.encoding.validate, recording.checkUse,
    ]
    var messages = recording.exclusions
    for check in checks { do { try check() } catch { messages.append("\(error)") } }
    guard messages.isEmpty, isInRoom else { return messages }
    do { _ = try feeds() } catch { messages.append("\(error)") }
    return messages
  }
}
