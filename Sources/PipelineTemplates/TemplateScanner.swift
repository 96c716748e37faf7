/// Cuts a template into tokens, so that each variable's place is known before any value is.
struct TemplateScanner {
  private let bytes: [UInt8]
  private let file: String
  private var index = 0
  private var line = 1
  private var tokens: [TemplateToken] = []

  init(text: String, file: String) {
    bytes = Self.withoutComments(text)
    self.file = file
  }

  private init(line: some Sequence<UInt8>, number: Int, file: String) {
    (bytes, self.line, self.file) = (Array(line), number, file)
  }

  /// What comment lines that begin with `#:` declare.
  static func declarations(in text: String, _ file: String) throws(TemplateError) -> [TemplateToken] {
    var tokens: [TemplateToken] = []
    let lines = text.utf8.split(separator: LaunchQuoting.lineFeed, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where isDeclaration(line.drop(while: LaunchQuoting.isSpace)) {
      var scanner = TemplateScanner(line: line, number: index + 1, file: file)
      tokens.append(TemplateToken(content: .declaration(try scanner.takeParts { _ in false }), line: index + 1))
    }
    return tokens
  }

  /// - Parameter line: without the white space in front of it.
  static func isDeclaration(_ line: some Sequence<UInt8>) -> Bool { line.starts(with: Array("#:".utf8)) }

  /// Comment lines become empty ones, so that line numbers stay.
  private static func withoutComments(_ text: String) -> [UInt8] {
    let lines = text.utf8.split(separator: LaunchQuoting.lineFeed, omittingEmptySubsequences: false)
    let kept = lines.map { line in
      line.first { !LaunchQuoting.isSpace($0) } == UInt8(ascii: "#") ? [] : Array(line)
    }
    return Array(kept.joined(separator: [LaunchQuoting.lineFeed]))
  }

  mutating func scan() throws(TemplateError) -> [TemplateToken] {
    while let byte = peek() {
      let start = line
      let content: TemplateToken.Content
      if LaunchQuoting.isSpace(byte) {
        content = .space(takeWhile(LaunchQuoting.isSpace))
      } else if let property = try takeProperty() {
        content = property
      } else if LaunchQuoting.beginsWithMediaType(bytes[index...]) {
        content = .caps(try takeParts { $0 == LaunchQuoting.link })
      } else if byte == LaunchQuoting.link {
        content = .word([.literal([byte])])
        _ = take()
      } else {
        content = .word(try takeParts { LaunchQuoting.isSpace($0) || $0 == LaunchQuoting.link })
      }
      tokens.append(TemplateToken(content: content, line: start))
    }
    return tokens
  }

  private func peek(_ offset: Int = 0) -> UInt8? {
    let position = index + offset
    return position < bytes.count ? bytes[position] : nil
  }

  private mutating func take() -> UInt8? {
    guard let byte = peek() else { return nil }
    index += 1
    if byte == LaunchQuoting.lineFeed { line += 1 }
    return byte
  }

  private mutating func takeWhile(_ condition: (UInt8) -> Bool) -> [UInt8] {
    var taken: [UInt8] = []
    while let byte = peek(), condition(byte), let next = take() { taken.append(next) }
    return taken
  }

  private var atVariable: Bool { peek() == UInt8(ascii: "$") && peek(1) == UInt8(ascii: "{") }

  /// Text and variables up to a byte that `isEnd` names, or the end. A backslash takes the next byte along.
  private mutating func takeParts(until isEnd: (UInt8) -> Bool) throws(TemplateError) -> [TemplatePart] {
    var parts: [TemplatePart] = []
    var literal: [UInt8] = []
    while let byte = peek(), !isEnd(byte) {
      if atVariable {
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = []
        parts.append(.variable(try takeVariable()))
        continue
      }
      if let taken = take() { literal.append(taken) }
      if byte == LaunchQuoting.backslash, let next = take() { literal.append(next) }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    return parts
  }

  private mutating func takeVariable() throws(TemplateError) -> VariableUse {
    let start = line
    index += 2
    let inner = takeBraced()
    guard peek() == UInt8(ascii: "}") else { throw TemplateError(file: file, line: start, .unterminatedVariable) }
    index += 1
    let nameEnd = inner.firstIndex(of: UInt8(ascii: ":")) ?? inner.count
    let name = String(decoding: inner[..<nameEnd], as: UTF8.self)
    let rest = inner[nameEnd...]
    guard LaunchQuoting.isPlainWord(name, allowing: "_-"), rest.isEmpty || rest.starts(with: Array(":-".utf8)) else {
      throw TemplateError(file: file, line: start, .badVariableName(String(decoding: inner, as: UTF8.self)))
    }
    let defaultValue = rest.isEmpty ? nil : String(decoding: rest.dropFirst(2), as: UTF8.self)
    return VariableUse(name: name, defaultValue: defaultValue, line: start)
  }

  /// Up to the brace that ends it, or the line; a default may have pairs of braces in it.
  private mutating func takeBraced() -> [UInt8] {
    var depth = 0
    return takeWhile { byte in
      switch byte {
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"): depth -= 1
      default: break
      }
      return depth >= 0 && byte != LaunchQuoting.lineFeed
    }
  }

  // MARK: Properties

  /// `name=value`, with or without white space around `=`; nil, and nothing taken, when there is none here.
  private mutating func takeProperty() throws(TemplateError) -> TemplateToken.Content? {
    guard let end = assignmentEnd() else { return nil }
    let assignment = Array(bytes[index..<end])
    let nameBytes = assignment.prefix { !LaunchQuoting.isSpace($0) && $0 != UInt8(ascii: "=") }
    while index < end { _ = take() }
    let name = String(decoding: nameBytes, as: UTF8.self)
    if peek() == UInt8(ascii: "'") { return try takeSingleQuoted(name, assignment) }
    let isQuoted = peek() == LaunchQuoting.quote
    let value = isQuoted ? try takeQuoted() : try takeParts(until: LaunchQuoting.isSpace)
    let hasVariable = value.contains { if case .variable = $0 { true } else { false } }
    guard hasVariable else {
      let text = isQuoted ? Self.quoted(value) : value
      return .property(name: name, assignment: assignment, value: text, isData: false)
    }
    try checkPlace(value, isQuoted)
    if Self.isStructured(name, value) {
      return .property(
        name: name, assignment: assignment, value: isQuoted ? Self.quoted(value) : value, isData: false)
    }
    return .property(name: name, assignment: assignment, value: value.map(Self.meant), isData: true)
  }

  /// Where the value begins, if an assignment does here.
  private func assignmentEnd() -> Int? {
    guard let first = peek(), LaunchQuoting.isAlphanumeric(first) || first == UInt8(ascii: "_") else { return nil }
    var end = index
    while end < bytes.count, LaunchQuoting.isAlphanumeric(bytes[end]) || "_-%:".utf8.contains(bytes[end]) { end += 1 }
    while end < bytes.count, LaunchQuoting.isSpace(bytes[end]) { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "=") else { return nil }
    end += 1
    while end < bytes.count, LaunchQuoting.isSpace(bytes[end]) { end += 1 }
    return end
  }

  /// The inside of a string in double quotes, as written.
  private mutating func takeQuoted() throws(TemplateError) -> [TemplatePart] {
    let start = line
    _ = take()
    let parts = try takeParts { $0 == LaunchQuoting.quote }
    guard take() == LaunchQuoting.quote else { throw TemplateError(file: file, line: start, .unterminatedQuote) }
    return parts
  }

  /// Single quotes hold words together, but GStreamer leaves them in the value, so nobody can want a variable there.
  private mutating func takeSingleQuoted(_ name: String, _ assignment: [UInt8]) throws(TemplateError)
    -> TemplateToken.Content
  {
    let single = UInt8(ascii: "'")
    _ = take()
    let parts = try takeParts { $0 == single }
    for case .variable(let use) in parts {
      let why = "single quotes would become part of the value; use double quotes"
      throw TemplateError(file: file, line: use.line, .badPlace(name: use.name, why))
    }
    let end: [TemplatePart] = take() == single ? [.literal([single])] : []
    return .property(name: name, assignment: assignment, value: [.literal([single])] + parts + end, isData: false)
  }

  private static func quoted(_ parts: [TemplatePart]) -> [TemplatePart] {
    [.literal([LaunchQuoting.quote])] + parts + [.literal([LaunchQuoting.quote])]
  }

  private func checkPlace(_ value: [TemplatePart], _ isQuoted: Bool) throws(TemplateError) {
    guard let use = value.lazy.compactMap({ if case .variable(let use) = $0 { use } else { nil } }).first else {
      return
    }
    if isQuoted {
      guard peek().map(LaunchQuoting.isSpace) != false else { throw mixed(use) }
      return
    }
    for case .literal(let bytes) in value where Self.hasBareQuote(bytes) { throw mixed(use) }
  }

  private func mixed(_ use: VariableUse) -> TemplateError {
    let why = "put the whole value, and nothing but it, in double quotes"
    return TemplateError(file: file, line: use.line, .badPlace(name: use.name, why))
  }

  private static func hasBareQuote(_ literal: [UInt8]) -> Bool {
    var isEscaped = false
    for byte in literal {
      if !isEscaped, byte == LaunchQuoting.quote || byte == UInt8(ascii: "'") { return true }
      isEscaped = byte == LaunchQuoting.backslash && !isEscaped
    }
    return false
  }

  private static func meant(_ part: TemplatePart) -> TemplatePart {
    if case .literal(let bytes) = part { .literal(LaunchQuoting.meaning(of: bytes)) } else { part }
  }

  /// Whether a variable is only a part of caps or of another structure, in which a value could add fields: the property
  /// is called caps, the text begins with a media type, or a field `,name=` comes before the variable.
  private static func isStructured(_ name: String, _ value: [TemplatePart]) -> Bool {
    guard value.count > 1 else { return false }
    if name.lowercased().contains("caps") { return true }
    guard case .literal(let head) = value[0] else { return false }
    return LaunchQuoting.beginsWithKnownMediaType(head)
      || value.contains { if case .literal(let text) = $0 { LaunchQuoting.hasField(text) } else { false } }
  }
}
