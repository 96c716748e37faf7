import MediaCore
import MediaPipelines

/// A text in lines that are read at a glance, of which two are seen at a time: they roll up as fast as people read. So what
/// grows while it is spoken shows its newest words, and what comes at once all of them, one after the other. Pure.
struct CaptionLines: Equatable, Sendable {
  private static let seenAtOnce = 2
  /// A name is to leave room for what is said.
  private static let nameColumns = 24
  /// What nobody says in one segment.
  private static let mostColumns = 10_000

  let lines: [String]
  /// How long it takes to read up to the end of each.
  private let read: [Duration]

  /// - Parameters:
  ///   - text: of anybody.
  ///   - name: of who says it; empty for none.
  init(_ text: String, name: String = "") {
    let text = LabelText.shown(text, columns: Self.mostColumns, isFlowing: true)
    let name = LabelText.shown(name, columns: Self.nameColumns, isFlowing: true)
    var wrapping = Wrapping()
    if !text.isEmpty {
      for word in (name.isEmpty ? text : "\(name): \(text)").split(separator: " ") { wrapping.add(word) }
    }
    wrapping.endLine()
    var columns = 0
    lines = wrapping.lines.map(\.text)
    read = wrapping.lines.map { line in
      columns += line.columns
      return Captions.readable.letter * columns
    }
  }

  /// - Parameter age: how long ago the first was seen.
  func seen(at age: Duration) -> ArraySlice<String> { lines[top(at: age)...].prefix(Self.seenAtOnce) }

  /// The age at which others are seen; nil where the last ones are.
  func next(after age: Duration) -> Duration? {
    let top = top(at: age)
    return top + Self.seenAtOnce < lines.count ? read[top] : nil
  }

  private func top(at age: Duration) -> Int {
    min(read.firstIndex { $0 > age } ?? lines.count, max(lines.count - Self.seenAtOnce, 0))
  }

  /// How long it takes to read all.
  var reading: Duration { lines.isEmpty ? .zero : max(read.last ?? .zero, Captions.readable.least) }
  /// How long it takes to read those that are seen last.
  var readingOfLast: Duration {
    reading - (lines.count > Self.seenAtOnce ? read[lines.count - Self.seenAtOnce - 1] : .zero)
  }
}

/// Words in lines.
private struct Wrapping {
  /// As of most subtitles.
  private static let most = 42

  private(set) var lines: [(text: String, columns: Int)] = []
  private var line = (text: "", columns: 0)

  /// What is longer than a line, as languages without spaces are, breaks anywhere.
  mutating func add(_ word: Substring) {
    let columns = word.unicodeScalars.reduce(0) { $0 + $1.columns }
    let breaks = columns > Self.most
    if line.columns + 1 + (breaks ? 2 : columns) > Self.most { endLine() }
    if line.columns > 0 { append(" ") }
    for character in word { append(character) }
  }

  private mutating func append(_ character: Character) {
    let columns = character.unicodeScalars.reduce(0) { $0 + $1.columns }
    if line.columns + columns > Self.most { endLine() }
    line.text.append(character)
    line.columns += columns
  }

  mutating func endLine() {
    if !line.text.isEmpty { lines.append(line) }
    line = ("", 0)
  }
}
