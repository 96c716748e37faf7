/// `gst_parse_launch` in as far as it decides where a value ends and what it is, written from what GStreamer 1.22 did with
/// 180,000 random values, and on purpose without a line of `LaunchQuoting`. GStreamerKit's tests ask the real parser.
public enum LaunchModel {
  /// The end of the value that begins at `start`: the longest match of either form, a backslash standing for itself as
  /// well as for the beginning of an escape.
  public static func end(_ text: [UInt8], from start: Int) -> Int { max(word(text, start), quoted(text, start)) }

  private static func word(_ text: [UInt8], _ start: Int) -> Int {
    var reached: Set<Int> = [start]
    var longest = start
    for position in start..<text.count where reached.contains(position) {
      let takesNext = text[position] == 0x5c && position + 1 < text.count && text[position + 1] != 0x0a
      for end in (isSpace(text[position]) ? [] : [position + 1]) + (takesNext ? [position + 2] : []) {
        reached.insert(end)
        longest = max(longest, end)
      }
    }
    return longest
  }

  private static func quoted(_ text: [UInt8], _ start: Int) -> Int {
    guard start < text.count, text[start] == 0x22 else { return start }
    var reached: Set<Int> = [start + 1]
    var longest = start
    for position in (start + 1)..<max(text.count, start + 1) where reached.contains(position) {
      if text[position] == 0x22 { longest = max(longest, position + 1) } else { reached.insert(position + 1) }
      if text[position] == 0x5c, position + 1 < text.count, text[position + 1] == 0x22 { reached.insert(position + 2) }
    }
    return longest
  }

  /// What a text property becomes.
  public static func value(_ token: ArraySlice<UInt8>) -> [UInt8]? {
    let isQuoted = token.count >= 2 && token.first == 0x22 && token.last == 0x22
    let text = meaning(of: isQuoted ? token.dropFirst().dropLast() : token)
    return text.first == 0x22 ? unwrapped(text) : text
  }

  /// `gst_string_unwrap`: three octal digits or any one character after a backslash.
  private static func unwrapped(_ text: [UInt8]) -> [UInt8]? {
    guard text.count >= 2, text.last == 0x22 else { return nil }
    var result: [UInt8] = []
    var rest = text.dropFirst().dropLast()
    while let byte = rest.popFirst() {
      guard byte == 0x5c else {
        guard isAlphanumeric(byte) || "_-+/:.".utf8.contains(byte) else { return nil }
        result.append(byte)
        continue
      }
      let digits = rest.prefix(3)
      if let first = digits.first, (0x30...0x33).contains(first) {
        guard let octal = UInt8(String(decoding: digits, as: UTF8.self), radix: 8), digits.count == 3 else {
          return nil
        }
        result.append(octal)
        rest = rest.dropFirst(3)
      } else {
        guard let next = rest.popFirst() else { return nil }
        result.append(next)
      }
    }
    return result
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
  }

  /// One level of backslashes taken away.
  private static func meaning(of text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      if byte != 0x5c { result.append(byte) } else if let next = rest.popFirst() { result.append(next) }
    }
    return result
  }

  // MARK: Places for a value

  /// A pipeline in which `${x}` is a value, and what that property then is.
  public struct Place: Sendable {
    public let template: String
    public let meaning: @Sendable (String) -> String
  }

  public static let places = [
    Place(template: "filesrc location=${x} ! fakesink name=\"z b\"") { $0 },
    Place(template: "filesrc location = \"${x}\"\n ! fakesink name=\"z b\"") { $0 },
    Place(template: "filesrc location=\"/tmp/${x}\" ! fakesink name=\"z b\"") { "/tmp/" + $0 },
    Place(template: "filesrc location=/tmp/${x}.mp4 ! fakesink name=\"z b\"") { "/tmp/" + $0 + ".mp4" },
    Place(template: "filesrc location=\"a \\\"${x}\\\" \\\\${x}\" ! fakesink name=\"z b\"") { "a \"\($0)\" \\\($0)" },
    Place(template: "filesrc location=a\\ \\!\\\\${x}\\\"b ! fakesink name=\"z b\"") { "a !\\\($0)\"b" },
  ]

  /// The first property's value in a filled place, and the text behind it.
  public static func read(_ description: String) -> (value: [UInt8]?, rest: String)? {
    let text = Array(description.utf8)
    guard let equals = text.firstIndex(of: 0x3d), let start = text[(equals + 1)...].firstIndex(where: { !isSpace($0) })
    else { return nil }
    let end = end(text, from: start)
    return (value(text[start..<end]), String(decoding: text[end...].drop(while: isSpace), as: UTF8.self))
  }
}
