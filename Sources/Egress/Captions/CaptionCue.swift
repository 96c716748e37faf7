import MediaCore

/// Something that is said, with when.
struct CaptionCue: Equatable, Sendable {
  /// Of the job, or of the part that it is in.
  var start: Duration
  var end: Duration
  /// Who says it, as people know them; empty where nobody knows.
  var speaker: String
  /// One line or several.
  var text: String

  /// What of it is in a stretch of the job, with times of that stretch; nil where nothing is, or too little to be read.
  /// - Parameter end: of the stretch; nil while it has none.
  func part(from begin: Duration, to end: Duration?) -> CaptionCue? {
    let (from, to) = (max(start, begin), min(self.end, end ?? self.end))
    guard to - from >= min(Self.least, self.end - start), to > from else { return nil }
    var part = self
    (part.start, part.end) = (from - begin, to - begin)
    return part
  }
  private static let least = Duration.milliseconds(500)

  /// The same where all ends at `end`, behind which nothing is seen: what is said last is seen for a moment before it.
  func within(_ end: Duration) -> CaptionCue {
    guard end < self.end else { return self }
    var within = self
    (within.start, within.end) = (min(start, max(end - Self.least, .zero)), end)
    return within
  }

  /// The same for a track in a file: Matroska knows no time that lies 32.7 s or more before what is beside it.
  /// - Parameter reached: how far the file is written.
  func near(_ reached: Duration) -> CaptionCue {
    let earliest = reached - Self.longestPast
    guard start < earliest else { return self }
    var near = self
    (near.start, near.end) = (earliest, max(end, earliest + Captions.readable.least))
    return near
  }
  private static let longestPast = Duration.seconds(30)

  /// As text alone, in which players find no marks: many take `<i>` and `{\\an8}` for such.
  /// - Parameter naming: whether it says whose it is.
  func plain(naming: Bool) -> String {
    let text = WebVTT.lines(naming && !speaker.isEmpty ? "\(speaker): \(text)" : text)
    return text.replacing("<", with: "<\u{200b}").replacing("{\\", with: "{\u{200b}\\")
  }
}

/// The words of a caption file (W3C, WebVTT: The Web Video Text Tracks Format).
enum WebVTT {
  /// The first lines of a file.
  static let head = "WEBVTT\n\n"

  static func file(of cues: [CaptionCue]) -> String { head + text(of: cues[...]) }

  /// A segment beside one of media (RFC 8216, 3.5).
  /// - Parameter ticks: of 90 kHz, that are time zero in that.
  static func segment(of cues: [CaptionCue], ticks: Int) -> String {
    let map = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\(ticks),LOCAL:00:00:00.000\n\n"
    return map + text(of: cues[...])
  }

  static func text(of cues: ArraySlice<CaptionCue>) -> String { cues.map { text(of: $0) }.joined() }

  /// With the line behind it that is empty.
  static func text(of cue: CaptionCue) -> String {
    let speaker = cue.speaker.split(whereSeparator: \.isNewline).joined(separator: " ")
    let voice = speaker.isEmpty ? "" : "<v \(escaped(speaker))>"
    return "\(time(cue.start)) --> \(time(cue.end))\n\(voice)\(escaped(lines(cue.text)))\n\n"
  }

  /// Hours of two digits at least, and milliseconds.
  static func time(_ time: Duration) -> String {
    let milliseconds = max(time.nanoseconds / 1_000_000, 0)
    func digits(_ number: Int64, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
    let (seconds, minutes) = (milliseconds / 1000, milliseconds / 60_000)
    return "\(digits(minutes / 60, 2)):\(digits(minutes % 60, 2)):\(digits(seconds % 60, 2))."
      + digits(milliseconds % 1000, 3)
  }

  /// An empty line would end the cue.
  static func lines(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
  }

  /// Without `<`, `&` and `-->`.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\0": escaped += "\u{fffd}"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
