extension OutputFormat {
  /// The ways to store in a file of this name, the cheapest first.
  static func ways(file: String, pictures: Pictures) throws(LiveKitError) -> [OutputFormat] {
    let cheapest = try OutputFormat(file: file, pictures: pictures)
    if case .none = pictures { return [cheapest] }
    let anew = try OutputFormat(file: file, pictures: .any)
    return cheapest.template == anew.template ? [cheapest] : [cheapest, anew]
  }

  var text: PipelineTextName { PipelineTextName(.output, template) }

  /// The variables whose values only another, dearer way than the cheapest has a use for; and that way.
  static func choose(
    file: String, pictures: Pictures, factory: PipelineFactory
  ) throws(LiveKitError) -> (format: OutputFormat, because: [String]) {
    let ways = try ways(file: file, pictures: pictures)
    var missing: [String]?
    for way in ways {
      let own = try factory.variables(of: way.text)
      let unknown = factory.overrides.keys.filter { !own.contains($0) }.sorted()
      if unknown.isEmpty { return (way, missing ?? []) }
      missing = missing ?? unknown
    }
    let known = try ways.map { way throws(LiveKitError) in try factory.variables(of: way.text) }
    throw UnknownVariable(
      name: missing?.first ?? "", texts: ways.map(\.text), known: Set(known.joined()).sorted()
    ).error
  }
}

extension RecordingOptions {
  /// The output texts that may write the file, the cheapest first: which of them does is known when media comes.
  /// - Throws: `invalidParameter` for a name that says no kind of file.
  package func outputTexts() throws(LiveKitError) -> [PipelineTextName] {
    guard kinds.contains(.video) else { return [try OutputFormat(file: file, pictures: .none).text] }
    var texts: [PipelineTextName] = []
    for codec in ["vp8", "h264"] {
      for way in try OutputFormat.ways(file: file, pictures: .codec(codec)) where !texts.contains(way.text) {
        texts.append(way.text)
      }
    }
    return texts.sorted { $0.name.count < $1.name.count }
  }

  /// Finds mistakes in the values before a room is joined.
  func checkValues(_ factory: PipelineFactory) throws(LiveKitError) {
    guard values["location"] == nil else {
      throw LiveKitError(.invalidParameter, "`location` cannot be set: it is the file, which is given as such")
    }
    let texts = try outputTexts()
    try factory.check(texts, values: ["location": file])
    for text in texts where try factory.variables(of: text).isSuperset(of: values.keys) { return }
    let all = texts.map(\.description).joined(separator: ", ")
    throw LiveKitError(
      .invalidParameter, "none of \(all) has all of the variables \(values.keys.sorted().joined(separator: ", "))")
  }
}

extension Dimensions {
  /// What a text that encodes anew is told of the size. Where a person has set one side the other keeps the shape.
  func values(besides set: [String: String]) -> [String: String] {
    var (width, height) = (Int(width), Int(height))
    let shape = (width: Double(width), height: Double(height))
    if let given = set["width"].flatMap(Double.init), set["height"] == nil {
      height = Self.even(given * shape.height / shape.width)
    } else if let given = set["height"].flatMap(Double.init), set["width"] == nil {
      width = Self.even(given * shape.width / shape.height)
    }
    return ["width": "\(width)", "height": "\(height)"]
  }

  /// Encoders want even sizes.
  private static func even(_ length: Double) -> Int { max(2, Int(min(length, 32768) / 2) * 2) }
}
