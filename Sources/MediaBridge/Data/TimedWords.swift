import Foundation

/// What agents say as lines of JSON, each with a piece of the text and when it is spoken: the `json_format` of
/// LiveKit's agents. Pure.
enum TimedWords {
  private struct Line: Decodable { let text: String? }

  /// - Returns: the text alone; nil for what is none of that.
  static func text(of content: String) -> String? {
    guard content.utf8.first == UInt8(ascii: "{") else { return nil }
    var pieces: [String] = []
    for line in content.split(separator: "\n") {
      guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else { return nil }
      if let text = line.text { pieces.append(text) }
    }
    return pieces.isEmpty ? nil : pieces.joined()
  }
}
