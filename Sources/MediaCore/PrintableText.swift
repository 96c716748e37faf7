/// One line of text that shows all that is in it, whoever wrote it: a participant's name cannot command the terminal,
/// end the line, turn the direction of what follows or hide.
///
/// What has no shape of its own is written as an escape such as `\u{1b}`. Each `\u{` in the line is one: where the text
/// has these characters itself they are written `\u{5c}u{`, so that the text can be read back from the line.
public struct PrintableText: Sendable, Hashable, CustomStringConvertible {
  /// The line.
  public let description: String
  /// Unicode scalars of a line: more than anything of ours that is to be read.
  public static let limit = 1000

  /// - Parameter limit: Unicode scalars of the line. Of a longer one the middle gives way to "…": what a sentence says of
  ///   a name stands in front of it and behind it.
  public init(_ text: String, limit: Int = Self.limit) {
    let pieces = Self.pieces(of: text)
    let isShort = pieces.lazy.map(\.unicodeScalars.count).reduce(0, +) <= limit
    description = (isShort ? pieces[...] : Self.cut(pieces, to: limit)).joined()
  }

  /// JSON in one line, whole: the same values for who parses it.
  public init(json: String) {
    description = json.unicodeScalars.map { scalar in
      // Outside its strings JSON is ASCII, so that this is inside of one.
      Self.isPrintable(scalar) ? String(scalar) : scalar.utf16.map { "\\u" + Self.hex($0, digits: 4) }.joined()
    }.joined()
  }

  private static func pieces(of text: String) -> [String] {
    let scalars = text.unicodeScalars
    return scalars.indices.map { index in
      let looksEscaped = scalars[index] == "\\" && scalars[index...].starts(with: "\\u{".unicodeScalars)
      let isItself = isPrintable(scalars[index]) && !looksEscaped
      return isItself ? String(scalars[index]) : "\\u{\(hex(scalars[index].value))}"
    }
  }

  /// The first three quarters and the end, without a part of an escape.
  private static func cut(_ pieces: [String], to limit: Int) -> ArraySlice<String> {
    let head = fitting(pieces, within: limit * 3 / 4)
    let tail = fitting(pieces.reversed(), within: limit - limit * 3 / 4 - 1)
    return pieces.prefix(head) + ["…"] + pieces.suffix(tail)
  }

  /// How many of the first pieces have no more than so many scalars.
  private static func fitting(_ pieces: [String], within limit: Int) -> Int {
    var rest = limit
    return pieces.prefix { piece in
      rest -= piece.unicodeScalars.count
      return rest >= 0
    }.count
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7f).contains(scalar.value) }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
    // Zero-width fillers and joiners, variation selectors, tags.
    default: return !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  private static func hex(_ value: some BinaryInteger, digits: Int = 1) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
