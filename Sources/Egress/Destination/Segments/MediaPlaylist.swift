import Foundation

/// A media playlist of RFC 8216. Pure.
struct MediaPlaylist: Sendable {
  enum Kind: Equatable, Sendable {
    /// Lists all segments; on demand once it has ended.
    case event
    /// Lists the newest so many, or more of them while these are shorter than three target durations (RFC 8216, 6.2.2).
    case live(Int)
  }

  struct Segment: Equatable, Sendable {
    /// Of its file, in the playlist's folder.
    var name: String
    var duration: Duration
    /// When its first frame came.
    var date: Date
  }

  private struct Entry {
    var text: String
    var duration: Duration
    var initialization: String?
    /// Whether what comes is another stream than what was before.
    var isDiscontinuous: Bool

    /// - Parameter map: what goes in front of the segment before.
    func lines(after map: String?) -> String {
      var lines = isDiscontinuous ? "#EXT-X-DISCONTINUITY\n" : ""
      if let initialization, initialization != map { lines += MediaPlaylist.map(initialization) }
      return lines + text
    }
  }

  let kind: Kind
  /// Seconds.
  let targetDuration: Int
  /// The name of the file that goes in front of every segment from now on, in the playlist's folder; nil where none does.
  private var initialization: String?
  private var isDiscontinuous = false
  /// What is listed.
  private var entries: [Entry] = []
  private var length = Duration.zero
  private var count = 0
  /// Of those that are not listed any more (RFC 8216, 4.3.3.3).
  private var discontinuities = 0

  /// - Parameter course: of the live one whose file it goes on with, as another stream; nil where it begins.
  init(_ kind: Kind, targetDuration: Int, initialization: String? = nil, after course: Course? = nil) {
    (self.kind, self.initialization) = (kind, initialization)
    self.targetDuration = max(targetDuration, course?.targetDuration ?? 0)
    guard let course else { return }
    (count, discontinuities, isDiscontinuous) = (course.sequence, course.discontinuities, true)
  }

  /// What goes behind the text of before once a segment is appended; nil where what is before it changes, too, as in a
  /// live playlist.
  func addition(of segment: Segment) -> String? {
    guard kind == .event, let last = entries.last else { return nil }
    // The first one with something in front asks for another version.
    guard initialization == nil || last.initialization != nil else { return nil }
    return entry(of: segment).lines(after: last.initialization)
  }

  /// What goes behind the text where nothing is added any more; nil for a live playlist.
  var ending: String? { kind == .event ? Self.end : nil }

  private func entry(of segment: Segment) -> Entry {
    let text =
      "#EXT-X-PROGRAM-DATE-TIME:\(Self.format.format(segment.date))\n"
      + "#EXTINF:\(Self.seconds(segment.duration)),\n\(Self.uri(segment.name))\n"
    return Entry(
      text: text, duration: segment.duration, initialization: initialization, isDiscontinuous: isDiscontinuous)
  }

  mutating func append(_ segment: Segment) {
    count += 1
    entries.append(entry(of: segment))
    isDiscontinuous = false
    length += segment.duration
    guard case .live(let most) = kind else { return }
    while entries.count > most, length - entries[0].duration >= .seconds(3 * targetDuration) {
      let gone = entries.removeFirst()
      length -= gone.duration
      if gone.isDiscontinuous { discontinuities += 1 }
    }
  }

  /// What is appended from here on is another stream, whose times begin anew (RFC 8216, 4.3.2.3).
  /// - Parameter initialization: goes in front of its segments.
  mutating func resume(initialization: String?) { (self.initialization, isDiscontinuous) = (initialization, true) }

  /// How many segments it lists.
  var listed: Int { entries.count }

  /// The number of the first segment that is listed.
  var sequence: Int { count - entries.count }

  /// - Parameter isOver: whether nothing will be added any more.
  func text(isOver: Bool) -> String {
    var (text, map) = (head, first)
    for entry in entries {
      text += entry.lines(after: map)
      map = entry.initialization
    }
    return text + (isOver ? Self.end : "")
  }
  private static let end = "#EXT-X-ENDLIST\n"

  /// What goes in front of the first segment that is listed.
  private var first: String? { entries.first.map(\.initialization) ?? initialization }

  private static func map(_ name: String) -> String { "#EXT-X-MAP:URI=\"\(uri(name))\"\n" }

  private var head: String {
    // EXT-X-MAP asks for version 6 (RFC 8216, 7).
    let hasMap = first != nil || entries.contains { $0.initialization != nil }
    var head = "#EXTM3U\n#EXT-X-VERSION:\(hasMap ? 6 : 3)\n"
    if kind == .event { head += "#EXT-X-PLAYLIST-TYPE:EVENT\n" }
    head += "#EXT-X-TARGETDURATION:\(targetDuration)\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n"
    if discontinuities > 0 { head += "#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuities)\n" }
    if let first { head += Self.map(first) }
    return head
  }

  private static func seconds(_ duration: Duration) -> String { String(format: "%.6f", duration / .seconds(1)) }

  /// A name is no address: what has a meaning in one is written as `%3A`.
  static func uri(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: plain) ?? name }
  private static let plain = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: ":;/"))

  private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}

extension MediaPlaylist {
  /// How far a live playlist has come, as its text says. Players may know it: numbers do not fall, and the target
  /// duration stays (RFC 8216, 4.3.3.1 and 6.2.2). Pure.
  struct Course: Equatable, Sendable {
    /// The number of the segment that comes next.
    let sequence: Int
    /// Discontinuities before that.
    let discontinuities: Int
    /// Seconds.
    let targetDuration: Int

    /// - Parameter text: anything.
    /// - Returns: nil for what is no live playlist as they are written here.
    init?(of text: String) {
      let lines = text.split(separator: "\n")
      func number(_ tag: String, in range: ClosedRange<Int>, usual: Int? = nil) -> Int? {
        guard let line = lines.first(where: { $0.hasPrefix(tag) }) else { return usual }
        return Int(line.dropFirst(tag.count)).flatMap { range.contains($0) ? $0 : nil }
      }
      guard lines.first == "#EXTM3U", !lines.contains(where: { $0.hasPrefix("#EXT-X-PLAYLIST-TYPE:") }),
        let targetDuration = number("#EXT-X-TARGETDURATION:", in: 1...3600),
        let first = number("#EXT-X-MEDIA-SEQUENCE:", in: Self.numbers),
        let gone = number("#EXT-X-DISCONTINUITY-SEQUENCE:", in: Self.numbers, usual: 0)
      else { return nil }
      self.targetDuration = targetDuration
      sequence = first + lines.count { $0.hasPrefix("#EXTINF:") }
      discontinuities = gone + lines.count { $0 == "#EXT-X-DISCONTINUITY" }
    }

    /// More segments than anybody writes, and far from what an `Int` holds.
    private static let numbers = 0...999_999_999_999
  }
}
