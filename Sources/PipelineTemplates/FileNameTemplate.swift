/// An output path with placeholders: `recordings/{room_name}-{time}.mp4`.
///
/// The text around the placeholders is the user's and stands as written. What fills them may come from a stranger, so it
/// can neither leave the folder nor hide the file: see `safe(_:)`. Each part between slashes ends up at most 255 bytes long.
public struct FileNameTemplate: Equatable, Sendable {
  /// What stands in braces.
  public enum Placeholder: String, CaseIterable, Sendable {
    /// As the server calls the room.
    case roomName = "room_name"
    /// The server's id of the room.
    case roomID = "room_id"
    /// Local or given time, as the caller writes it.
    case time
    /// The time in UTC, as the caller writes it.
    case utc
    /// Who published what the file holds.
    case publisherIdentity = "publisher_identity"
    /// The server's id of the track.
    case trackID = "track_id"
    /// `audio` or `video`.
    case trackType = "track_type"
    /// `camera`, `microphone`, …
    case trackSource = "track_source"
  }

  /// What is wrong with a template or with the values for it.
  public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is none of that name.
    case unknownPlaceholder(String, nearest: String?)
    /// A brace is opened and not closed.
    case unterminatedPlaceholder
    /// The caller has no value for it.
    case missingValue(Placeholder)
    /// No file name may have that byte.
    case containsNUL
    /// The user's own text alone fills the 255 bytes that a file name may have.
    case tooLong(String)
    /// Nothing is left for the name of the file.
    case emptyName

    /// For people: what is wrong, and what there is instead.
    public var description: String {
      switch self {
      case .unknownPlaceholder(let name, let nearest):
        "no placeholder {\(name)}\(nearest.map { "; did you mean {\($0)}?" } ?? ".") There are: \(Self.known)"
      case .unterminatedPlaceholder: "a { without its } in a file name"
      case .missingValue(let placeholder): "{\(placeholder.rawValue)} has no value here"
      case .containsNUL: "a file name cannot have a NUL byte"
      case .tooLong(let part): "\"\(part)\" is longer than the 255 bytes that a file name may have"
      case .emptyName: "no name is left for the file"
      }
    }

    private static var known: String { Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ") }
  }

  private enum Piece: Equatable, Sendable {
    case text(String)
    case placeholder(Placeholder)
  }

  /// `NAME_MAX` of Linux, in bytes.
  static let nameLimit = 255
  /// What values fill a name to: what is called after a file, such as a part, a segment or a manifest, has to fit, too.
  static let filledLimit = nameLimit - 40

  /// As it was written.
  public let text: String
  /// One list for each part between slashes.
  private let parts: [[Piece]]

  /// Reads a template; nothing is looked up yet.
  public init(_ text: String) throws(Failure) {
    guard !text.utf8.contains(0) else { throw .containsNUL }
    self.text = text
    var parts: [[Piece]] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      parts.append(try Self.pieces(part))
    }
    self.parts = parts
  }

  /// Each once, in the order of their first use.
  public var placeholders: [Placeholder] {
    var seen = Set<Placeholder>()
    return parts.joined().compactMap { piece in
      guard case .placeholder(let placeholder) = piece, seen.insert(placeholder).inserted else { return nil }
      return placeholder
    }
  }

  /// The path with `values` in it, each made safe.
  public func fill(_ values: [Placeholder: String]) throws(Failure) -> String {
    var names: [String] = []
    for part in parts { names.append(try Self.name(part, values)) }
    guard let last = names.last, !["", ".", ".."].contains(last) else { throw .emptyName }
    return names.joined(separator: "/")
  }

  /// Whether one of the placeholders is in it.
  package static func hasPlaceholder(_ text: String) -> Bool {
    Placeholder.allCases.contains { text.contains("{\($0.rawValue)}") }
  }

  /// The address with `values` in it, each made a word in which nothing means anything to a server: of its path, its query
  /// or what it makes of them. Letters of other scripts are encoded (RFC 3986, 2.1).
  package func address(_ values: [Placeholder: String]) throws(Failure) -> String {
    var filled = text
    for placeholder in placeholders {
      guard let value = values[placeholder] else { throw .missingValue(placeholder) }
      filled = filled.replacing("{\(placeholder.rawValue)}", with: Self.word(value))
    }
    return filled
  }

  /// Whether it is one placeholder, and nothing else.
  static func isPlaceholder(_ text: some StringProtocol) -> Bool {
    text.first == "{" && text.last == "}" && Placeholder(rawValue: String(text.dropFirst().dropLast())) != nil
  }

  /// What stands for a value in an address.
  package static func word(_ value: String) -> String {
    safe(value).reduce(into: "") { word, character in
      let isKept = character.isLetter || character.isNumber || "-._~".contains(character)
      guard isKept, !character.isASCII else { return word.append(isKept ? character : "_") }
      for byte in character.utf8 { word += "%" + String(byte, radix: 16, uppercase: true) }
    }
  }

  /// A text from anywhere as a part of a file name: `/`, `\`, control characters, and those that turn the direction of
  /// writing become `_`, as do dots and dashes at the beginning (`..`, hidden files, names that look like options).
  public static func safe(_ value: String) -> String {
    var result = ""
    var isLeading = true
    for scalar in value.unicodeScalars {
      let isBad = isUnsafe(scalar) || (isLeading && (scalar == "." || scalar == "-" || scalar == " "))
      if !isBad { isLeading = false }
      result.unicodeScalars.append(isBad ? "_" : scalar)
    }
    return result.isEmpty ? "_" : result
  }

  /// The same, no longer than so many bytes.
  package static func safe(_ value: String, bytes: Int) -> String { shortened(safe(value), to: bytes) }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
    default: scalar == "/" || scalar == "\\"
    }
  }

  private static func pieces(_ part: Substring.UTF8View) throws(Failure) -> [Piece] {
    var pieces: [Piece] = []
    var rest = part
    while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
      if open != rest.startIndex { pieces.append(.text(String(Substring(rest[..<open])))) }
      let inside = rest[rest.index(after: open)...]
      guard let close = inside.firstIndex(of: UInt8(ascii: "}")) else { throw .unterminatedPlaceholder }
      let name = String(Substring(inside[..<close]))
      guard let placeholder = Placeholder(rawValue: name) else {
        throw .unknownPlaceholder(name, nearest: NearestName.of(name, in: Placeholder.allCases.map(\.rawValue)))
      }
      pieces.append(.placeholder(placeholder))
      rest = inside[inside.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(Substring(rest)))) }
    return pieces
  }

  /// One part of the path. When it is too long the values give way, never the user's text with its suffix.
  private static func name(_ part: [Piece], _ values: [Placeholder: String]) throws(Failure) -> String {
    let fixed = part.reduce(0) { sum, piece in if case .text(let text) = piece { sum + text.utf8.count } else { sum } }
    var open = part.count { if case .placeholder = $0 { true } else { false } }
    guard nameLimit - fixed >= open else { throw .tooLong(part.map(shown).joined()) }
    var room = max(open, filledLimit - fixed)
    var result = ""
    for piece in part {
      switch piece {
      case .text(let text): result += text
      case .placeholder(let placeholder):
        guard let value = values[placeholder] else { throw .missingValue(placeholder) }
        // At least a fair share for each that is still to come.
        let kept = shortened(safe(value), to: open == 1 ? room : max(room / open, room - (open - 1) * 64))
        result += kept
        room -= kept.utf8.count
        open -= 1
      }
    }
    return result
  }

  private static func shown(_ piece: Piece) -> String {
    switch piece {
    case .text(let text): text
    case .placeholder(let placeholder): "{\(placeholder.rawValue)}"
    }
  }

  /// Cut between two scalars, so that the name stays UTF-8.
  private static func shortened(_ value: String, to limit: Int) -> String {
    var result = String.UnicodeScalarView()
    var count = 0
    for scalar in value.unicodeScalars {
      count += UTF8.width(scalar)
      if count > limit { break }
      result.append(scalar)
    }
    return result.isEmpty ? "_" : String(result)
  }
}
