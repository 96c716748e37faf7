/// One use of a variable.
struct VariableUse: Equatable, Sendable {
  var name: String
  var defaultValue: String?
  var line: Int
}

enum TemplatePart: Equatable, Sendable {
  case literal([UInt8])
  case variable(VariableUse)
}

/// A piece of a template as gst-launch's lexer would see it.
struct TemplateToken: Equatable, Sendable {
  enum Content: Equatable, Sendable {
    /// White space, line ends included; comment lines are empty ones.
    case space([UInt8])
    /// A comment line that begins with `#:`, whose variables are there for Swift: nothing of it goes to gst-launch.
    case declaration([TemplatePart])
    /// An element, a link, a reference to a pad, a parenthesis.
    case word([TemplatePart])
    /// A caps filter between two links, white space included.
    case caps([TemplatePart])
    /// `name=` as written and its value. `isData` means that the parts are what the value means and are still to be
    /// quoted; otherwise they are the text itself and a variable's value must be a plain word.
    case property(name: String, assignment: [UInt8], value: [TemplatePart], isData: Bool)
  }

  var content: Content
  /// 1-based line on which it begins.
  var line: Int

  var parts: [TemplatePart] {
    switch content {
    case .space: []
    case .declaration(let parts), .word(let parts), .caps(let parts), .property(_, _, let parts, _): parts
    }
  }

  var variables: [VariableUse] { parts.compactMap { if case .variable(let use) = $0 { use } else { nil } } }

  /// Whether gst-launch gets nothing of it but white space.
  var isBlank: Bool {
    switch content {
    case .space, .declaration: true
    case .word, .caps, .property: false
    }
  }
}
