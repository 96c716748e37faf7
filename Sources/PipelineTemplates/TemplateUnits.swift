extension Template {
  private static let unitsMark = "Units:"

  /// By variable, as the comment lines that begin with `# Units:` say it.
  static func units(in text: String) -> [String: String] {
    var units: [String: String] = [:]
    for line in text.utf8.split(separator: LaunchQuoting.lineFeed) {
      let words = line.drop(while: LaunchQuoting.isSpace)
      guard words.first == UInt8(ascii: "#") else { continue }
      let content = words.drop { $0 == UInt8(ascii: "#") }.drop(while: LaunchQuoting.isSpace)
      guard content.starts(with: Array(unitsMark.utf8)) else { continue }
      for entry in content.dropFirst(unitsMark.utf8.count).split(separator: UInt8(ascii: ",")) {
        let parts = entry.split(maxSplits: 1, whereSeparator: LaunchQuoting.isSpace)
        guard parts.count == 2 else { continue }
        let unit = parts[1].split(whereSeparator: LaunchQuoting.isSpace)
        units[String(decoding: parts[0], as: UTF8.self)] =
          unit.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
      }
    }
    return units
  }

  /// Names that a `# Units:` line has and that no variable is called by: slips of the pen.
  public var unitsOfNoVariable: [String] {
    Set(Self.units(in: text).keys).subtracting(variables.map(\.name)).sorted()
  }
}
