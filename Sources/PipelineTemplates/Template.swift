/// A `${name}` or `${name:-default}` of a template.
public struct TemplateVariable: Equatable, Sendable {
  /// Letters, digits, `_` and `-`.
  public var name: String
  /// Nil when a value must be given. A default on one line holds for every use of the name.
  public var defaultValue: String?
  /// 1-based lines on which it stands, each once.
  public var lines: [Int]
  /// What a value is counted in, such as `kbit/s`, or else what it is; nil where no `# Units:` line has it.
  public var unit: String?
}

/// A gst-launch description in a text file, with comment lines and variables.
///
/// A variable may stand
/// - as a property's whole value or as a part of it, in double quotes or without any: the value may then be any text;
/// - within caps or another structure (`caps="video/x-raw,width=${width}"`), or as a word of its own such as an element's
///   name: the value may then only be a plain word, since any other text would be syntax there;
/// - in a comment line that begins with `#:`, for values that Swift reads and no element: `#: ${playlist:-event} …`. The
///   value may be any text.
///
/// A comment line `# Units: bitrate kbit/s, gop frames` says what values are counted in; there may be several.
///
/// It may not stand in single quotes, nor in a value where quotes and other text are mixed. `\${` is plain text.
public struct Template: Equatable, Sendable {
  /// What it is for.
  public let kind: TemplateKind
  /// That of the file, without `.pipeline`.
  public let name: String
  /// As it is to be shown in messages, usually a path.
  public let file: String
  /// The whole text, comments included.
  public let text: String
  /// The first comment line that says something, without `#`; empty when there is none.
  public let summary: String
  /// In the order of their first use.
  public let variables: [TemplateVariable]

  let tokens: [TemplateToken]

  /// Far beyond any pipeline that a person writes.
  static let byteLimit = 262_144

  /// - Throws: what is wrong with the text, by line; elements and links are not looked at.
  public init(kind: TemplateKind, name: String, file: String, text: String) throws(TemplateError) {
    guard text.utf8.count <= Self.byteLimit else {
      throw TemplateError(file: file, .tooLarge(bytes: text.utf8.count))
    }
    self.kind = kind
    self.name = name
    self.file = file
    self.text = text
    summary = Self.summary(of: text)
    var scanner = TemplateScanner(text: text, file: file)
    tokens = try TemplateScanner.declarations(in: text, file) + scanner.scan()
    guard tokens.contains(where: { !$0.isBlank }) else { throw TemplateError(file: file, .empty) }
    let units = Self.units(in: text)
    variables = try Self.variables(in: tokens, file).map { variable in
      var variable = variable
      variable.unit = units[variable.name]
      return variable
    }
    try checkDefaults()
  }

  static func summary(of text: String) -> String {
    for line in text.utf8.split(separator: LaunchQuoting.lineFeed) {
      let content = line.drop(while: LaunchQuoting.isSpace)
      guard content.first == UInt8(ascii: "#"), !TemplateScanner.isDeclaration(content) else { continue }
      let words = content.drop { $0 == UInt8(ascii: "#") }.split(whereSeparator: LaunchQuoting.isSpace)
      if !words.isEmpty { return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }
    }
    return ""
  }

  private static func variables(in tokens: [TemplateToken], _ file: String) throws(TemplateError) -> [TemplateVariable]
  {
    var list: [TemplateVariable] = []
    var places: [String: (index: Int, defaultLine: Int?)] = [:]
    for use in tokens.flatMap(\.variables) {
      guard let place = places[use.name] else {
        places[use.name] = (list.count, use.defaultValue == nil ? nil : use.line)
        list.append(TemplateVariable(name: use.name, defaultValue: use.defaultValue, lines: [use.line]))
        continue
      }
      if list[place.index].lines.last != use.line { list[place.index].lines.append(use.line) }
      guard let value = use.defaultValue else { continue }
      if let line = place.defaultLine, list[place.index].defaultValue != value {
        throw TemplateError(file: file, line: use.line, .conflictingDefaults(name: use.name, other: line))
      }
      list[place.index].defaultValue = value
      places[use.name] = (place.index, place.defaultLine ?? use.line)
    }
    return list
  }

  /// A default obeys the rules for values; better said now than when the template is first used.
  private func checkDefaults() throws(TemplateError) {
    var values: [String: String] = [:]
    for variable in variables { values[variable.name] = variable.defaultValue ?? "x" }
    _ = try TemplateFiller(template: self, values: values).filled()
  }
}
