/// Makes remote text fit for a piece of a file name.
enum FileNameText {
  /// What any value can be shortened to.
  static let shortest = 24

  /// Replaces what separates folders, controls a terminal, or turns the reading direction; `isFirst` also replaces what
  /// hides a file, climbs up or looks like an option at the start of a name. Never empty.
  static func harmless(_ value: String, isFirst: Bool) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in value.unicodeScalars { scalars.append(isHarmful(scalar) ? "_" : scalar) }
    var text = String(scalars)
    if isFirst {
      let lead = text.utf8.prefix { ".-~ ".utf8.contains($0) }.count
      if lead > 0 {
        text = String(repeating: "_", count: lead) + String(decoding: text.utf8.dropFirst(lead), as: UTF8.self)
      }
    }
    return text.isEmpty ? "_" : text
  }

  /// At most `limit` bytes, cut between characters. A cut name ends in a hash of the whole, so that two long names with the
  /// same beginning stay two names.
  static func shortened(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    let ending = "~" + hash(text)
    var head = ""
    for character in text {
      guard head.utf8.count + character.utf8.count + ending.utf8.count <= limit else { break }
      head.append(character)
    }
    return head + ending
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "/", "\\": return true
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
    default: return false
    }
  }

  /// FNV-1a, 64 bits; tells names apart and protects nothing.
  private static func hash(_ text: String) -> String {
    var value: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
