import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaCore
import PipelineTemplates
import SignalTransport
import Yams

/// The file of `run`: read and checked as far as it can be without joining a room.
struct RunFile {
  /// All that is wrong with a file.
  struct Mistakes: Error {
    let all: [YAMLMistake]
  }

  private static let keys = ["rooms", "jobs"]
  private static let allKeys = keys + ["dot"]
  /// More than a person writes.
  private static let largestFile = 1024 * 1024

  /// What an empty job of each kind is; only its place is still to be named.
  struct Plain {
    var recording: RecordCommand
    var frames: FramesCommand
    var pcm: PCMCommand
  }

  var reader: RunReader
  var configuration = RunConfiguration()
  let plain: Plain
  /// The jobs that write to standard output, and where that is said.
  var outputs: [(job: String, mark: Mark?)] = []

  private init(_ file: String, _ plain: Plain) { (reader, self.plain) = (RunReader(file: file), plain) }

  /// - Parameter plain: `defaults()`, for whoever reads many: to make them takes longer than to read a file.
  /// - Throws: `Mistakes`, in the order of lines.
  static func read(_ file: String, plain: Plain? = nil) throws -> RunConfiguration {
    let plain = try plain ?? Self.defaults()
    var reading = RunFile(file, plain)
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

  static func defaults() throws -> Plain {
    let access = ["--url", "ws://localhost", "--token", "-"]
    var plain = Plain(
      recording: try RecordCommand.parse(access + ["a.mkv"]), frames: try FramesCommand.parse(access),
      pcm: try PCMCommand.parse(access))
    (plain.recording.access.url, plain.recording.access.token) = (nil, nil)
    return plain
  }

  private mutating func read(_ root: Node) {
    var parts: [String: (mark: Mark?, value: Node)] = [:]
    for (name, mark, value) in reader.pairs(root, of: "the file") {
      if Self.allKeys.contains(name) {
        parts[name] = (mark, value)
      } else {
        reader.refuse(name, mark, besides: Self.allKeys, in: "the file")
      }
    }
    for name in Self.keys where parts[name] == nil && root.mapping != nil {
      reader.note(root.mark, "`\(name)` is missing")
    }
    let (rooms, jobs) = (list("rooms", parts), list("jobs", parts))
    for (name, mark, value) in rooms { readRoom(name, mark, value) }
    for (name, mark, value) in jobs { readJob(name, mark, value, rooms.map(\.key)) }
    checkOutputs()
    if let dot = parts["dot"] { configuration.dot = reader.word(dot.value, "dot", Self.dot) }
  }

  static var dot: RunForm { .text(example: "drawings") }

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
    var draft = RunRoomDraft(access: plain.recording.access)
    let before = reader.mistakes.count
    let places = reader.read(value, of: "a room", by: RunKey.all, into: &draft)
    guard reader.mistakes.count == before else { return }
    var receiveValues: [String: String] = [:]
    do {
      try draft.access.validate()
      try draft.access.checkAccess()
      _ = try SignalURL(draft.access.serverURL())
      var set = plain.recording.set
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
}
