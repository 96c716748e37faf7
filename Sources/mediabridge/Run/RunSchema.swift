import Foundation

/// The JSON schema of the file, made of the tables that it is read by.
enum RunSchema {
  static func text() throws -> String {
    let help = try optionHelp()
    let schema: [String: Any] = [
      "$schema": "http://json-schema.org/draft-07/schema#", "title": "mediabridge run", "type": "object",
      "additionalProperties": false, "required": ["rooms", "jobs"],
      "properties": [
        "rooms": named("Rooms by name", RunKey<RunRoomDraft>.all, help, required: []),
        "jobs": named(
          "Jobs by name: what each records, and where to", RunKey<RunJobDraft>.all, help, required: ["destinations"]),
      ],
    ]
    let data = try JSONSerialization.data(
      withJSONObject: schema, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
  }

  private static func named<Target>(
    _ description: String, _ keys: [RunKey<Target>], _ help: [String: String], required: [String]
  ) -> [String: Any] {
    var properties: [String: Any] = [:]
    for key in keys {
      properties[key.name] = key.form.schema.merging(["description": key.help ?? help[key.name] ?? ""]) { $1 }
    }
    var item: [String: Any] = ["type": "object", "additionalProperties": false, "properties": properties]
    if !required.isEmpty { item["required"] = required }
    return ["type": "object", "description": description, "minProperties": 1, "additionalProperties": item]
  }

  /// What `record --help` says of each option, by its name.
  private static func optionHelp() throws -> [String: String] {
    let arguments = try CommandInfo(RecordCommand.self).visibleArguments
    return arguments.reduce(into: [:]) { help, argument in
      for name in argument.names ?? [] { help[name.name] = argument.abstract }
    }
  }
}
