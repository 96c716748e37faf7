package import Yams

/// What is wrong in a file that a person wrote, and where.
package struct YAMLMistake: Error, Sendable, CustomStringConvertible {
  package let file: String
  /// Both count from 1; nil where it is of the whole file.
  package let place: (line: Int, column: Int)?
  package let message: String

  package init(_ file: String, _ mark: Mark?, _ message: String) {
    self.init(file, line: mark?.line, column: mark?.column, message)
  }

  init(_ file: String, line: Int?, column: Int?, _ message: String) {
    (self.file, self.message) = (file, message)
    place = line.map { ($0, column ?? 1) }
  }

  /// `FILE:LINE:COLUMN: message`.
  package var description: String { "\(file)\(place.map { ":\($0.line):\($0.column)" } ?? ""): \(message)" }
}

/// YAML that a person wrote, whose mistakes are told by line and column.
package struct YAMLFile: Sendable {
  package let file: String
  /// What it is to be, such as `layout`.
  private let purpose: String

  /// What is nested as deep as that is not parsed: the parser goes as deep as the text does.
  private static let deepest = 128

  package init(_ file: String, holding purpose: String) { (self.file, self.purpose) = (file, purpose) }

  /// - Throws: the text is no YAML, or holds nothing.
  package func parse(_ yaml: String) throws(YAMLMistake) -> Node {
    try checkDepth(yaml)
    do {
      if let node = try Yams.compose(yaml: yaml) { return node }
    } catch let problem as YamlError {
      throw told(problem, in: yaml)
    } catch { throw YAMLMistake(file, nil, "\(error)") }
    throw YAMLMistake(file, nil, "there is no \(purpose) in it")
  }

  private func checkDepth(_ yaml: String) throws(YAMLMistake) {
    var depth = 0
    for (index, line) in yaml.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      depth += line.count { "[{".contains($0) }
      let isDeep = line.prefix { " -?".contains($0) }.count + depth > Self.deepest
      guard !isDeep else {
        throw YAMLMistake(file, line: index + 1, column: 1, "this is nested too deep for a \(purpose)")
      }
      depth = max(0, depth - line.count { "]}".contains($0) })
    }
  }

  private func told(_ problem: YamlError, in yaml: String) -> YAMLMistake {
    switch problem {
    case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _), .composer(_, let text, let mark, _):
      YAMLMistake(file, mark, "this is no YAML: \(text)")
    case .duplicatedKeysInMapping(let names, let context):
      twice(names, at: (context.mark.line, context.mark.column), in: yaml)
    default: YAMLMistake(file, nil, "this is no YAML: \(problem)")
    }
  }
  /// - Parameter first: where the first of them is.
  private func twice(_ names: [String], at first: YAMLKeys.Place, in yaml: String) -> YAMLMistake {
    let place = YAMLKeys(yaml).next(like: names.first ?? "", after: first) ?? first
    let words = names.map { "`\($0)`" }.joined(separator: ", ")
    return YAMLMistake(file, line: place.line, column: place.column, "\(words) is there twice")
  }
}
