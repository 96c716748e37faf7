import PipelineTemplates

/// One destination as it is read.
struct RunDestinationItem {
  var location: String?
  var output: String?
  var values: [String: String] = [:]

  static let keys = ["location", "output", "set"]

  /// As `record` takes it, with what an address has of the environment.
  func item() throws(RunRefusal) -> RunItem {
    guard let location, !location.isEmpty else { throw RunRefusal("`location` is missing") }
    if let output, !TemplateStore.isName(output) { throw RunRefusal("'\(output)' is no name of an output template") }
    guard RunSecret.isIn(location) else { return item(location) }
    let given = Destination(argument: location)
    guard !given.isFile else {
      throw RunRefusal(
        "the environment is for secrets only, such as the key of an address; write the name of this file here")
    }
    return item(try RunSecret.filled(location))
  }

  private func item(_ location: String) -> RunItem {
    RunItem(text: output.map { "\($0)=\(location)" } ?? location, values: values)
  }

  static var schema: [String: Any] {
    [
      "anyOf": [
        ["type": "string", "description": "[NAME=]LOCATION"],
        [
          "type": "object", "required": ["location"], "additionalProperties": false,
          "properties": [
            "location": ["type": "string", "description": "A file or an address"],
            "output": ["type": "string", "description": "The name of the output template"],
            "set": RunForm.values.schema.merging(["description": "Values for its templates alone"]) { $1 },
          ],
        ],
      ]
    ]
  }
}
