/// A name with wildcards: `*` stands for any characters, or none, and `?` for one.
package struct NamePattern: Sendable {
  private let pattern: [Character]

  package init(_ pattern: String) { self.pattern = Array(pattern) }

  /// Whether a name has wildcards.
  package static func isPattern(_ name: String) -> Bool { name.contains { "*?".contains($0) } }

  /// Takes as long as both are long, whatever stands in them.
  package func matches(_ name: String) -> Bool {
    let name = Array(name)
    var (at, next) = (0, 0)
    var star: (after: Int, at: Int)?
    while at < name.count {
      if next < pattern.count, pattern[next] == "*" {
        star = (next + 1, at)
        next += 1
      } else if next < pattern.count, pattern[next] == "?" || pattern[next] == name[at] {
        (at, next) = (at + 1, next + 1)
      } else if let last = star {
        star = (last.after, last.at + 1)
        (at, next) = (last.at + 1, last.after)
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == "*" }
  }
}

/// Names, and names with wildcards, of which one has to fit. Without any, all fit.
package struct NamePatterns: Sendable {
  private let names: [String]
  private let patterns: [NamePattern]

  package init(_ names: [String]) { (self.names, patterns) = (names, names.map(NamePattern.init)) }

  /// - Parameter name: nil for who has none, which fits only where all do.
  package func matches(_ name: String?) -> Bool {
    patterns.isEmpty || name.map { name in patterns.contains { $0.matches(name) } } == true
  }

  /// The only name; nil where several may fit.
  package var only: String? { names.count == 1 && !NamePattern.isPattern(names[0]) ? names[0] : nil }

  /// For people; nil where all fit.
  package var words: String? { names.isEmpty ? nil : names.joined(separator: " or ") }
}
