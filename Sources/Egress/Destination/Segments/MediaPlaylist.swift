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

  let kind: Kind
  /// Seconds.
  let targetDuration: Int
  /// The name of the file that goes in front of every segment, in the playlist's folder; nil where none does.
  let initialization: String?
  /// What is listed.
  private var entries: [(text: String, duration: Duration)] = []
  private var length = Duration.zero
  private var count = 0

  init(_ kind: Kind, targetDuration: Int, initialization: String? = nil) {
    (self.kind, self.targetDuration, self.initialization) = (kind, targetDuration, initialization)
  }

  mutating func append(_ segment: Segment) {
    count += 1
    let text =
      "#EXT-X-PROGRAM-DATE-TIME:\(Self.format.format(segment.date))\n"
      + "#EXTINF:\(Self.seconds(segment.duration)),\n\(Self.uri(segment.name))\n"
    entries.append((text, segment.duration))
    length += segment.duration
    guard case .live(let most) = kind else { return }
    while entries.count > most, length - entries[0].duration >= .seconds(3 * targetDuration) {
      length -= entries.removeFirst().duration
    }
  }

  /// How many segments it lists.
  var listed: Int { entries.count }

  /// The number of the first segment that is listed.
  var sequence: Int { count - entries.count }

  /// - Parameter isOver: whether nothing will be added any more.
  func text(isOver: Bool) -> String { head + entries.map(\.text).joined() + (isOver ? "#EXT-X-ENDLIST\n" : "") }

  private var head: String {
    // EXT-X-MAP asks for version 6 (RFC 8216, 7).
    var head = "#EXTM3U\n#EXT-X-VERSION:\(initialization == nil ? 3 : 6)\n"
    if kind == .event { head += "#EXT-X-PLAYLIST-TYPE:EVENT\n" }
    head += "#EXT-X-TARGETDURATION:\(targetDuration)\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n"
    if let initialization { head += "#EXT-X-MAP:URI=\"\(Self.uri(initialization))\"\n" }
    return head
  }

  private static func seconds(_ duration: Duration) -> String { String(format: "%.6f", duration / .seconds(1)) }

  /// A name is no address: what has a meaning in one is written as `%3A`.
  private static func uri(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: plain) ?? name }
  private static let plain = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: ":;/"))

  private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
