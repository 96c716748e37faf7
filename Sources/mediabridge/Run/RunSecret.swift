import Foundation

/// `${env:NAME}`: what a file names and does not hold.
enum RunSecret {
  static let pattern = #"^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$"#

  /// Whether a text asks for something of the environment, well or badly.
  static func isIn(_ text: String) -> Bool { text.contains("${") }

  /// What is named, where nothing but a name may stand.
  /// - Throws: the secret itself stands there, or the environment has none of that name.
  static func whole(_ text: String) throws(RunRefusal) -> String {
    guard let match = text.wholeMatch(of: /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/) else {
      throw RunRefusal(
        "a secret does not stand in this file, which others may read: write ${env:NAME}, and set NAME in the environment"
      )
    }
    return try value(of: String(match.1))
  }

  /// With each name replaced.
  static func filled(_ text: String) throws(RunRefusal) -> String {
    var result = ""
    var rest = text[...]
    while let match = rest.firstMatch(of: /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/) {
      result += rest[..<match.range.lowerBound] + (try value(of: String(match.1)))
      rest = rest[match.range.upperBound...]
    }
    guard !isIn(String(rest)) else { throw RunRefusal("write ${env:NAME} for a secret of the environment") }
    return result + rest
  }

  private static func value(of name: String) throws(RunRefusal) -> String {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
      throw RunRefusal("the environment has no \(name): set it before 'run'")
    }
    return value
  }
}

/// What is wrong with a value.
struct RunRefusal: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
