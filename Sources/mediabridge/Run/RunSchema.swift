import ArgumentParser
import Foundation

/// The JSON schema of the file, made of the tables that it is read by.
enum RunSchema {
  static func text() throws -> String {
    let job = try job
    let room = table(RunKey<RunRoomDraft>.all, try help(of: RecordCommand.self))
    let schema: [String: Any] = [
      "$schema": "http://json-schema.org/draft-07/schema#", "title": "mediabridge run", "type": "object",
      "additionalProperties": false, "required": ["rooms", "jobs"],
      "properties": [
        "rooms": named("Rooms by name", room),
        "jobs": named("Jobs by name: what each makes of a room, and where that goes", job),
        "dot": RunFile.dot.schema.merging(["description": "A folder that all pipelines are drawn into, for Graphviz"]) {
          $1
        },
      ],
    ]
    let data = try JSONSerialization.data(
      withJSONObject: schema, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }

  /// By its kind.
  private static var job: [String: Any] {
    get throws {
      let record = table(
        RunKey<RunJobDraft>.all, try help(of: RecordCommand.self), ["required": ["destinations"]])
      let somewhere: [String: Any] = ["anyOf": [["required": ["destination"]], ["required": ["exec"]]]]
      let frames = table(RunKey<RunRawDraft<FramesCommand>>.all, try help(of: FramesCommand.self), somewhere)
      let pcm = table(RunKey<RunRawDraft<PCMCommand>>.all, try help(of: PCMCommand.self), somewhere)
      return [
        "type": "object", "if": isOf(.frames), "then": frames, "else": ["if": isOf(.pcm), "then": pcm, "else": record],
      ]
    }
  }

  private static func isOf(_ kind: RunKind) -> [String: Any] {
    ["required": ["kind"], "properties": ["kind": ["const": kind.rawValue]]]
  }

  private static func table<Target>(
    _ keys: [RunKey<Target>], _ help: [String: String], _ more: [String: Any] = [:]
  ) -> [String: Any] {
    var properties: [String: Any] = [:]
    for key in keys {
      properties[key.name] = key.form.schema.merging(["description": key.help ?? help[key.name] ?? ""]) { $1 }
    }
    return ["type": "object", "additionalProperties": false, "properties": properties].merging(more) { $1 }
  }

  private static func named(_ description: String, _ item: [String: Any]) -> [String: Any] {
    ["type": "object", "description": description, "minProperties": 1, "additionalProperties": item]
  }

  /// What `--help` says of each option, by its name.
  private static func help(of command: any ParsableCommand.Type) throws -> [String: String] {
    let arguments = try CommandInfo(command).visibleArguments
    return arguments.reduce(into: [:]) { help, argument in
      for name in argument.names ?? [] { help[name.name] = argument.abstract }
    }
  }
}
