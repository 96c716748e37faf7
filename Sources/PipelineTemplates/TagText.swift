/// Writes values into a list of tags, such as `title="My talk",track-number=(uint)5`, so that none adds another tag. Pure.
struct TagText {
  /// Whether what comes next stands inside quotes of the template.
  private var isQuoted = false
  /// Whether a backslash stands in front of it.
  private var isEscaped = false
  /// What comes next stands behind it; nil at the beginning.
  private var last: UInt8?

  /// Passes what the template itself has.
  mutating func take(_ literal: [UInt8]) {
    for byte in literal {
      if byte == LaunchQuoting.quote, !isEscaped { isQuoted.toggle() }
      isEscaped = byte == LaunchQuoting.backslash && !isEscaped
      if !LaunchQuoting.isSpace(byte) { last = byte }
    }
  }

  /// What stands for a value in this place. One that has quotes around it, as a person had to write them once, is what is
  /// between them.
  mutating func text(of value: String) -> [UInt8] {
    let value = Self.unquoted(value)
    // A backslash in front of it stands for itself.
    var text = isEscaped ? [LaunchQuoting.backslash] : []
    let wrapped = Array(LaunchQuoting.wrapped(value).utf8)
    if isQuoted {
      text += wrapped.dropFirst().dropLast()
    } else if isInWord, LaunchQuoting.isPlainWord(value, allowing: Self.wordMarks) {
      text += value.utf8
    } else {
      text += wrapped
    }
    (isEscaped, last) = (false, text.last ?? last)
    return text
  }

  /// Whether a value goes on with a word, or stands behind a type such as `(uint)`: a number is written without quotes.
  private var isInWord: Bool {
    guard let last else { return true }
    return last == UInt8(ascii: ")") || LaunchQuoting.isAlphanumeric(last) || Self.wordMarks.utf8.contains(last)
  }
  private static let wordMarks = "_-+./:"

  private static func unquoted(_ value: String) -> String {
    let bytes = Array(value.utf8)
    guard bytes.count > 1, bytes.first == LaunchQuoting.quote, bytes.last == LaunchQuoting.quote else { return value }
    return String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self)
  }
}
