/// Caps as a template writes them, as far as the choice of a feed asks: formats in the template's order, each with the
/// values that its fields may have.
///
/// Pure: GStreamer says in the end what fits; this says beforehand what to bring it.
public struct CapsText: Equatable, Sendable {
  /// One of the formats, such as `video/x-h264,alignment=au`.
  public struct Format: Equatable, Sendable {
    /// Such as `video/x-h264`, without memory features.
    public var mediaType: String
    /// A field that may have any value, such as one with a range, is not among them.
    public var fields: [String: [String]]
  }

  /// Empty where anything goes.
  public let formats: [Format]

  init(_ formats: [Format]) { self.formats = formats }

  /// Reads caps as templates write them.
  public init(_ text: String) {
    formats = Self.split(text, at: ";").compactMap { Format($0) }
  }

  /// Whether every format is meant.
  public var isAny: Bool { formats.isEmpty }

  /// Cuts at a mark that stands in no brackets and no quotes.
  fileprivate static func split(_ text: some StringProtocol, at mark: Character) -> [String] {
    var (pieces, depth, isQuoted) = ([""], 0, false)
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if !isQuoted, "{[<(".contains(character) { depth += 1 }
      if !isQuoted, "}]>)".contains(character) { depth -= 1 }
      if character == mark, depth == 0, !isQuoted {
        pieces.append("")
      } else {
        pieces[pieces.count - 1].append(character)
      }
    }
    return pieces.map(\.trimmed)
  }
}

extension CapsText.Format {
  /// One structure; nil for none, and for `ANY` and `EMPTY`.
  init?(_ text: String) {
    let parts = CapsText.split(text, at: ",")
    let type = parts[0].prefix { $0 != "(" }
    guard type.contains("/") else { return nil }
    mediaType = String(type).trimmed
    fields = [:]
    for part in parts.dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard sides.count == 2, let values = Self.values(sides[1].trimmed) else { continue }
      fields[sides[0].trimmed] = values
    }
  }

  /// Nil for a range.
  private static func values(_ text: String) -> [String]? {
    let plain = text.withoutType
    guard !plain.hasPrefix("[") else { return nil }
    guard plain.hasPrefix("{") else { return [plain.withoutQuotes] }
    return CapsText.split(plain.dropFirst().dropLast(), at: ",").map { $0.withoutType.withoutQuotes }
  }
}

extension CapsText.Format {
  /// Decoded frames or PCM.
  public var isRaw: Bool { mediaType.hasSuffix("/x-raw") }

  /// As people call it, such as `H264`, `AAC` or `raw frames`.
  public var spoken: String {
    switch mediaType {
    case "video/x-raw": "raw frames"
    case "audio/x-raw": "PCM"
    case "audio/mpeg": ["2", "4"].contains(fields["mpegversion"]?.first) ? "AAC" : "MP3"
    default: (mediaType.split(separator: "/").last ?? "").replacing("x-", with: "", maxReplacements: 1).uppercased()
    }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    var rest = Substring(self)
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}

extension String {
  /// Without `(string)` and the like in front.
  fileprivate var withoutType: String {
    guard hasPrefix("("), let end = firstIndex(of: ")") else { return self }
    return self[index(after: end)...].trimmed
  }

  fileprivate var withoutQuotes: String {
    count > 1 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
  }
}
