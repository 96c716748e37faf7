import Yams

/// Finds keys in text that the parser has refused, and so says nothing more about. Pure.
struct YAMLKeys {
  /// Both count from 1, columns in Unicode scalars.
  typealias Place = (line: Int, column: Int)

  private let lines: [[Character]]

  init(_ yaml: String) {
    lines = yaml.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { $0.map(Character.init) }
  }

  /// The next key of that name in the same mapping.
  /// - Parameter place: that of the key before it.
  /// - Returns: nil where none is found.
  func next(like name: String, after place: Place) -> Place? {
    guard lines.indices.contains(place.line - 1) else { return nil }
    return isInFlow(place) ? inFlow(name, after: place) : inBlock(name, after: place)
  }

  /// All keys of a block stand in one column, where what is in between is indented more.
  private func inBlock(_ name: String, after place: Place) -> Place? {
    for index in place.line..<max(place.line, lines.count) {
      let line = lines[index]
      guard line.count >= place.column, line.prefix(place.column - 1).allSatisfy({ $0 == " " }) else { continue }
      if isKey(name, at: place.column - 1, of: line) { return (index + 1, place.column) }
    }
    return nil
  }

  /// Between braces, where keys follow a comma.
  private func inFlow(_ name: String, after place: Place) -> Place? {
    var walk = FlowWalk()
    for index in (place.line - 1)..<lines.count {
      let line = lines[index]
      for column in line.indices.dropFirst(index == place.line - 1 ? place.column - 1 : 0) {
        if walk.isBeforeKey, isKey(name, at: column, of: line) { return (index + 1, column + 1) }
        walk.pass(line[column])
        if walk.isOver { return nil }
      }
    }
    return nil
  }

  /// Whether a brace or a comma goes before the key.
  private func isInFlow(_ place: Place) -> Bool {
    for index in stride(from: place.line - 1, through: 0, by: -1) {
      let line = index == place.line - 1 ? lines[index].prefix(place.column - 1) : lines[index][...]
      if let last = line.last(where: { !$0.isWhitespace }) { return "{,".contains(last) }
    }
    return false
  }

  private func isKey(_ name: String, at column: Int, of line: [Character]) -> Bool {
    let rest = line[column...]
    return [name, "'\(name)'", "\"\(name)\""].contains { form in
      let form = form.unicodeScalars.map(Character.init)
      return rest.starts(with: form) && rest.dropFirst(form.count).first { !$0.isWhitespace } == ":"
    }
  }
}

/// Where one is between the braces of a mapping, from character to character.
private struct FlowWalk {
  private var depth = 0
  private var quote: Character?
  private(set) var isBeforeKey = false
  /// Whether its brace has closed.
  var isOver: Bool { depth < 0 }

  mutating func pass(_ character: Character) {
    if let open = quote {
      if character == open { quote = nil }
      return
    }
    switch character {
    case "'", "\"": quote = character
    case "[", "{": depth += 1
    case "]", "}": depth -= 1
    default: break
    }
    if !character.isWhitespace { isBeforeKey = character == "," && depth == 0 }
  }
}
