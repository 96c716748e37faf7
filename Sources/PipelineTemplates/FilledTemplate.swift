/// A template with its values: what goes to gst-launch's parser, and the way back from it to the template's lines.
public struct FilledTemplate: Equatable, Sendable {
  /// An element of the description and the properties that the template sets on it.
  public struct Element: Equatable, Sendable {
    /// The kind of element, such as `vp8dec`.
    public var factory: String
    /// The value of `name=`, when the template gives one.
    public var name: String?
    /// 1-based line of the template.
    public var line: Int
    /// In the order of the template.
    public var properties: [Property]
  }

  /// A `name=value` of the template.
  public struct Property: Equatable, Sendable {
    /// As in the template.
    public var name: String
    /// 1-based line of the template.
    public var line: Int
    /// What the template says it is, without quotes and backslashes.
    public var value: String
    /// Where the value is that of one variable, or begins with it.
    public var variable: Variable?
  }

  /// What a property's value is made of: `${name}`, and text behind it, such as `000` in `${bitrate}000`.
  public struct Variable: Equatable, Sendable {
    /// Of the variable.
    public var name: String
    /// What stands behind it.
    public var suffix: String
  }

  /// The template's.
  public let kind: TemplateKind
  /// The template's.
  public let name: String
  /// The template's, as it is to be shown in messages.
  public let file: String
  /// What gst-launch's parser is given: without comments, with values.
  public let description: String
  /// In the order of the template; those of bins among them.
  public let elements: [Element]
  /// UTF-8 offsets at which a token of the template begins, ascending, with its line.
  let origins: [(offset: Int, line: Int)]
  let chains: [TemplateChain]
  /// The values of what `#:` lines declare.
  package let declared: [String: String]

  /// Whether both are the same description of the same file.
  public static func == (a: Self, b: Self) -> Bool {
    a.file == b.file && a.description == b.description && a.elements == b.elements && a.declared == b.declared
  }

  /// Whether both make the same pipeline, wherever their lines stand.
  package func isSame(as other: Self) -> Bool {
    func plain(_ filled: Self) -> [Element] {
      filled.elements.map { element in
        var element = element
        element.line = 0
        for index in element.properties.indices { element.properties[index].line = 0 }
        return element
      }
    }
    let words = { (filled: Self) in filled.description.split(whereSeparator: \.isWhitespace) }
    return words(self) == words(other) && plain(self) == plain(other) && declared == other.declared
  }

  /// The caps that the template gives the element of that name; nil without such an element, `ANY` where it says none.
  public func caps(ofElement name: String) -> CapsText? {
    elements.first { $0.name == name }.map { element in
      CapsText(element.properties.last { $0.name == "caps" }?.value ?? "ANY")
    }
  }

  /// The property of the element of that name whose value is the variable's, or begins with it: it can be changed as the
  /// variable's value could. Nil where the template has none.
  public func property(of element: String, from variable: String) -> Property? {
    elements.first { $0.name == element }?.properties.first { $0.variable?.name == variable }
  }

  /// The template's line for a UTF-8 offset in `description`.
  public func line(atOffset offset: Int) -> Int {
    origins.last { $0.offset <= offset }?.line ?? origins.first?.line ?? 1
  }

  /// The line of an element that GStreamer names in a message: by the name that the template gives it, by its factory,
  /// or by the name that GStreamer made from the factory and a number (`vp8dec0`). Nil for an element inside another
  /// one.
  public func line(ofElement element: String) -> Int? {
    let factory = String(element.reversed().drop { $0.isASCII && $0.isNumber }.reversed())
    let match =
      elements.first { $0.name == element } ?? elements.first { $0.factory == element }
      ?? elements.first { $0.name == nil && $0.factory == factory }
    return match?.line
  }

  /// The line on which `property` is set on `element`, or else the element's line.
  public func line(ofProperty property: String, element: String) -> Int? {
    let setter = elements.first { owner in
      (owner.name == element || owner.factory == element || element.hasPrefix(owner.factory))
        && owner.properties.contains { $0.name == property }
    }
    return setter?.properties.first { $0.name == property }?.line ?? line(ofElement: element)
  }
}

extension Template {
  /// Puts values in the place of the variables, as data and never as syntax; a variable without a value gets its
  /// default.
  ///
  /// - Parameter values: by variable name. A name that the template does not have is an error.
  public func fill(_ values: [String: String] = [:]) throws(TemplateError) -> FilledTemplate {
    let known = variables.map(\.name)
    if let name = values.keys.sorted().first(where: { !known.contains($0) }) {
      throw TemplateError(
        file: file, .unknownVariable(name: name, known: known, nearest: NearestName.of(name, in: known)))
    }
    return try TemplateFiller(template: self, values: values).filled()
  }
}

struct TemplateFiller {
  let template: Template
  let values: [String: String]

  private struct Output {
    var text = ""
    var origins: [(offset: Int, line: Int)] = []
    var elements: [FilledTemplate.Element] = []
    var chains = TemplateChainBuilder()
    var declared: [String: String] = [:]
    var end: Int { text.utf8.count }
  }

  func filled() throws(TemplateError) -> FilledTemplate {
    var output = Output()
    for token in template.tokens { try append(token, &output) }
    return FilledTemplate(
      kind: template.kind, name: template.name, file: template.file, description: output.text,
      elements: output.elements, origins: output.origins, chains: output.chains.chains, declared: output.declared)
  }

  private func append(_ token: TemplateToken, _ output: inout Output) throws(TemplateError) {
    if case .declaration(let parts) = token.content { return try declare(parts, &output) }
    let start = output.end
    output.origins.append((start, token.line))
    switch token.content {
    case .declaration: break
    case .space(let bytes): output.text += String(decoding: bytes, as: UTF8.self)
    case .caps(let parts):
      output.text += try plain(parts, allowing: "_-+./:")
      output.chains.take(rest: output.end)
    case .word(let parts):
      let word = try plain(parts, allowing: "_-")
      output.text += word
      output.chains.take(word: word, start: start, end: output.end)
      if isFactoryName(word) {
        output.elements.append(.init(factory: word, name: nil, line: token.line, properties: []))
      }
    case .property(let name, let assignment, let parts, let isData):
      output.text += String(decoding: assignment, as: UTF8.self)
      let value = isData ? try data(parts, isTags: name == "tags") : try plain(parts, allowing: "_-+./:")
      output.text += value
      output.chains.take(rest: output.end)
      note(name, value, Self.variable(in: parts), token.line, &output)
    }
  }

  /// What is no element's.
  private func declare(_ parts: [TemplatePart], _ output: inout Output) throws(TemplateError) {
    for case .variable(let use) in parts { output.declared[use.name] = try value(of: use) }
  }

  private static func variable(in parts: [TemplatePart]) -> FilledTemplate.Variable? {
    guard case .variable(let use)? = parts.first else { return nil }
    var suffix = ""
    for part in parts.dropFirst() {
      guard case .literal(let bytes) = part else { return nil }
      suffix += String(decoding: bytes, as: UTF8.self)
    }
    return FilledTemplate.Variable(name: use.name, suffix: suffix)
  }

  private func note(
    _ name: String, _ value: String, _ variable: FilledTemplate.Variable?, _ line: Int, _ output: inout Output
  ) {
    guard let last = output.elements.indices.last else { return }
    let inner = value.utf8.first == LaunchQuoting.quote ? value.utf8.dropFirst().dropLast() : value.utf8[...]
    let meaning = String(decoding: LaunchQuoting.meaning(of: inner), as: UTF8.self)
    output.elements[last].properties.append(.init(name: name, line: line, value: meaning, variable: variable))
    guard name == "name" else { return }
    output.elements[last].name = meaning
    output.chains.name(meaning)
  }

  private func isFactoryName(_ word: String) -> Bool {
    word.utf8.first.map { LaunchQuoting.isAlphanumeric($0) } == true && LaunchQuoting.isPlainWord(word, allowing: "_-")
  }

  private func value(of use: VariableUse) throws(TemplateError) -> String {
    let fallback = template.variables.first { $0.name == use.name }?.defaultValue
    guard let value = values[use.name] ?? fallback else { throw error(use, .missingValue(name: use.name)) }
    return value
  }

  /// Text as written, in which only plain words may take a variable's place.
  private func plain(_ parts: [TemplatePart], allowing extra: String) throws(TemplateError) -> String {
    var bytes: [UInt8] = []
    for part in parts {
      switch part {
      case .literal(let literal): bytes += literal
      case .variable(let use):
        let value = try value(of: use)
        guard LaunchQuoting.isPlainWord(value, allowing: extra) else {
          let why = "may only have letters, digits and \(extra.map(String.init).joined(separator: " ")) in this place"
          throw error(use, .badValue(name: use.name, why))
        }
        bytes += value.utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// - Parameter isTags: whether values are those of tags, in which they would add others.
  private func data(_ parts: [TemplatePart], isTags: Bool) throws(TemplateError) -> String {
    // A variable that is all of it is the list.
    var tags = isTags && parts.count > 1 ? TagText() : nil
    var bytes: [UInt8] = []
    var last: VariableUse?
    for part in parts {
      switch part {
      case .literal(let literal):
        bytes += literal
        tags?.take(literal)
      case .variable(let use):
        let value = try value(of: use)
        bytes += tags?.text(of: value) ?? Array(value.utf8)
        last = use
      }
    }
    guard let text = LaunchQuoting.propertyValue(String(decoding: bytes, as: UTF8.self)) else {
      throw TemplateError(file: template.file, line: last?.line, .badValue(name: last?.name ?? "", "has a NUL byte"))
    }
    return text
  }

  private func error(_ use: VariableUse, _ reason: TemplateError.Reason) -> TemplateError {
    TemplateError(file: template.file, line: use.line, reason)
  }
}
