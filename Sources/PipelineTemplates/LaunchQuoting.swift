/// Writes data into gst-launch syntax so that it stays data.
///
/// The rules were found by feeding GStreamer 1.22's `gst_parse_launch`, which reads a property in three steps:
/// 1. The lexer takes `name=` and then either a run of characters without white space, in which a backslash takes any next
///    character but a line end along, or a string in double quotes, in which `\"` does not end it. The longest match wins,
///    and a backslash may always stand for itself as well: after `a\\` a space is swallowed, after `"a\\"` everything up
///    to a later quote. So what is written must never end in a backslash, nor have one before a closing quote.
/// 2. Outer double quotes go away (single ones stay part of the value), then one level of backslashes.
/// 3. The rest is deserialised for the property's type. For text, a first character `"` means that the value is wrapped in
///    quotes once more, in the way of `gst_string_wrap`, and must be exactly that. `NULL` alone is no text at all.
///
/// Hence: one backslash before every ASCII character that is not plainly a word's, no quotes; double quotes only around
/// nothing or around a line end, which no backslash protects; and a wrapping as in step 3 for text that begins with a
/// quote or ends in a backslash, and for `NULL`. No type but text has use for such a value.
enum LaunchQuoting {
  /// The text after `name=` that gives a property exactly `value`; nil for a value with a NUL, at which C text ends.
  static func propertyValue(_ value: String) -> String? {
    let needsWrapping = value.utf8.first == quote || value.utf8.last == backslash || value == "NULL"
    let bytes = Array((needsWrapping ? wrapped(value) : value).utf8)
    guard !bytes.contains(0), !value.utf8.contains(0) else { return nil }
    guard bytes.contains(lineFeed) || bytes.isEmpty else { return escaped(bytes, where: needsBackslash) }
    return "\"" + escaped(bytes) { $0 == quote || $0 == backslash } + "\""
  }

  /// Step 2 read backwards: what the text between the quotes, or the whole unquoted text, means.
  static func meaning(of literal: some Sequence<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var isEscaped = false
    for byte in literal {
      if byte == backslash, !isEscaped {
        isEscaped = true
      } else {
        result.append(byte)
        isEscaped = false
      }
    }
    return result
  }

  /// Whether `value` can stand as it is inside caps, a structure or a bare word: nothing in it ends a field or a word.
  static func isPlainWord(_ value: String, allowing extra: String) -> Bool {
    !value.isEmpty && value.utf8.allSatisfy { isAlphanumeric($0) || extra.utf8.contains($0) }
  }

  /// A caps filter begins with a media type; nothing else in the syntax has a slash inside its first word.
  static func beginsWithMediaType(_ text: ArraySlice<UInt8>) -> Bool {
    let isMediaCharacter = { (byte: UInt8) in isAlphanumeric(byte) || byte == UInt8(ascii: "-") }
    let type = text.prefix(while: isMediaCharacter)
    let rest = text[type.endIndex...]
    return !type.isEmpty && rest.first == UInt8(ascii: "/") && rest.dropFirst().first.map(isMediaCharacter) == true
  }

  /// The same where a path could stand as well, as in `captures/${name}`: of a family that GStreamer has.
  static func beginsWithKnownMediaType(_ text: [UInt8]) -> Bool {
    let family = String(decoding: text.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    return families.contains(family) && beginsWithMediaType(text[...])
  }

  private static let families: Set = [
    "application", "audio", "closedcaption", "image", "memory", "meta", "multipart", "subpicture", "subtitle", "text",
    "timecode", "video",
  ]

  /// Whether a field of a structure, `,name=`, stands in the text.
  static func hasField(_ text: [UInt8]) -> Bool {
    let separators = [UInt8(ascii: ","), UInt8(ascii: ";")]
    let fields = text.split(omittingEmptySubsequences: false, whereSeparator: separators.contains)
    return fields.dropFirst().contains { field in
      let start = field.drop(while: isSpace)
      let name = start.prefix { isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
      return !name.isEmpty && start[name.endIndex...].first { !isSpace($0) } == UInt8(ascii: "=")
    }
  }

  static let link = UInt8(ascii: "!")
  static let backslash = UInt8(ascii: "\\")
  static let quote = UInt8(ascii: "\"")
  static let lineFeed = UInt8(ascii: "\n")

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private static func needsBackslash(_ byte: UInt8) -> Bool {
    byte < 0x80 && !isAlphanumeric(byte) && !"_-+./:".utf8.contains(byte)
  }

  private static func escaped(_ bytes: [UInt8], where needsBackslash: (UInt8) -> Bool) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      if needsBackslash(byte) { result.append(backslash) }
      result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// As `gst_string_wrap` writes text: octal outside printable ASCII, a backslash before anything unusual.
  static func wrapped(_ value: String) -> String {
    var result = "\""
    for byte in value.utf8 {
      if byte < 0x20 || byte >= 0x7f {
        let digits = String(byte, radix: 8)
        result += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
      } else {
        if needsBackslash(byte) { result += "\\" }
        result.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return result + "\""
  }
}
