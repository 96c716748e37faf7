import Foundation

/// What agents say as lines of JSON, each with a piece of the text and when it is spoken: the `json_format` of
/// LiveKit's agents. Pure: each line is read once, however often the text grows.
struct TimedWords {
  private struct Line: Decodable { let text: String? }

  /// Bytes of the longest line; agents put a word or a sentence into each.
  private static let longestLine = 1 << 14

  /// Of the lines that have ended; nil where none has a text.
  private var words: String?
  /// The line that has not ended.
  private var rest: [UInt8] = []
  private var isBegun = false
  /// Whether something of it is no such line.
  private var isOther = false

  mutating func add(_ piece: String) {
    guard !isOther else { return }
    if !isBegun, let first = piece.utf8.first { (isBegun, isOther) = (true, first != UInt8(ascii: "{")) }
    var lines = piece.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard let last = lines.popLast() else { return }
    for line in lines where !isOther {
      end(with: line)
      rest = []
    }
    rest += last
    if rest.count > Self.longestLine { isOther = true }
    if isOther { (words, rest) = (nil, []) }
  }

  private mutating func end(with bytes: Substring.UTF8View) {
    rest += bytes
    guard !rest.isEmpty else { return }
    guard rest.count <= Self.longestLine, let line = Self.read(rest) else {
      isOther = true
      return
    }
    guard let text = line.text else { return }
    if words == nil { words = "" }
    words? += text
  }

  /// The text alone; nil for what is none of that.
  var text: String? {
    guard !isOther, !rest.isEmpty else { return words }
    guard let line = Self.read(rest) else { return nil }
    return line.text.map { (words ?? "") + $0 } ?? words
  }

  private static func read(_ line: [UInt8]) -> Line? { try? JSONDecoder().decode(Line.self, from: Data(line)) }
}
