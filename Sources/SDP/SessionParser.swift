extension SessionDescription {
  /// Bounds on what a peer can make us hold and do. LiveKit's server (1.13) offers some 84 lines, 4 kB, for each video.
  public struct Limits: Sendable {
    /// Of the whole text.
    public var bytes = 8_000_000
    /// Of the whole text.
    public var lines = 200_000
    /// m-lines.
    public var mediaSections = 2_000
    /// Of one kind in one place: sources, groups, extensions, candidates, unknown attributes.
    public var repeats = 512

    /// What fits a large LiveKit room.
    public init() {}
  }

  /// Reads a description. Line ends may be CRLF, LF or CR; lines of unknown type and malformed attributes that only
  /// describe an option are passed over, as browsers and pion do; what decides the meaning of a section must be right.
  public init(parsing text: String, limits: Limits = Limits()) throws(SDPError) {
    var parser = SessionParser(limits: limits)
    self = try parser.parse(text)
  }
}

/// Walks over the lines once and hands each to the session or to the newest media section.
struct SessionParser {
  let limits: SessionDescription.Limits
  private var lineNumber = 0
  private var session: SessionDescription?
  private var sawVersion = false
  private var sessionDirection = Direction.sendrecv
  private var section: MediaParser?

  init(limits: SessionDescription.Limits) { self.limits = limits }

  mutating func parse(_ text: String) throws(SDPError) -> SessionDescription {
    guard text.utf8.count <= limits.bytes else {
      throw SDPError(line: 0, .tooLarge("more than \(limits.bytes) bytes"))
    }
    var rest = text[...]
    while !rest.isEmpty {
      let line = Self.takeLine(&rest)
      lineNumber += 1
      guard lineNumber <= limits.lines else {
        throw SDPError(line: lineNumber, .tooLarge("more than \(limits.lines) lines"))
      }
      if !line.isEmpty { try consume(line) }
    }
    closeSection()
    guard let session else { throw SDPError(line: 0, .missing(sawVersion ? "o= line" : "v= line")) }
    return session
  }

  /// Cuts off one line, without its end.
  private static func takeLine(_ rest: inout Substring) -> Substring {
    let bytes = rest.utf8
    guard let end = bytes.firstIndex(where: { $0 == 10 || $0 == 13 }) else {
      defer { rest = "" }
      return rest
    }
    let line = rest[..<end]
    var next = bytes.index(after: end)
    if bytes[end] == 13, next < bytes.endIndex, bytes[next] == 10 { next = bytes.index(after: next) }
    rest = rest[next...]
    return line
  }

  private mutating func consume(_ line: Substring) throws(SDPError) {
    // RFC 8866, 5: the one byte that is allowed nowhere.
    guard !line.utf8.contains(0) else { throw malformed("line, NUL byte", line) }
    let (letter, tail) = line.cut(at: .equals)
    guard let value = tail, letter.utf8.count == 1 else { throw malformed("line, expected LETTER=VALUE", line) }
    guard sawVersion else {
      guard letter == "v" else { throw SDPError(line: lineNumber, .missing("v= line"), line) }
      guard value.trimmed == "0" else { throw malformed("version, expected v=0", line) }
      sawVersion = true
      return
    }
    if letter == "m" { return try openSection(value, line) }
    if section != nil {
      try section?.consume(letter, value, lineNumber)
    } else {
      try consumeSessionLine(letter, value, line)
    }
  }

  private mutating func openSection(_ value: Substring, _ line: Substring) throws(SDPError) {
    closeSection()
    guard let count = session?.media.count else { throw SDPError(line: lineNumber, .missing("o= line"), line) }
    guard count < limits.mediaSections else {
      throw SDPError(line: lineNumber, .tooLarge("more than \(limits.mediaSections) media sections"))
    }
    section = try MediaParser(value, direction: sessionDirection, repeats: limits.repeats, lineNumber)
  }

  private mutating func closeSection() {
    if let section { session?.media.append(section.finished) }
    section = nil
  }

  private mutating func consumeSessionLine(_ letter: Substring, _ value: Substring, _ line: Substring) throws(SDPError)
  {
    if letter == "o" {
      guard let origin = SessionDescription.Origin(parsing: value) else { throw malformed("o= line", line) }
      if session == nil { session = SessionDescription(origin: origin) }
      return
    }
    guard session != nil else { throw SDPError(line: lineNumber, .missing("o= line"), line) }
    switch letter {
    case "s": session?.name = String(value)
    case "t": session?.timing = String(value)
    case "c": session?.connection = String(value)
    case "b": if let bandwidth = Bandwidth(parsing: value) { session?.bandwidth.append(bandwidth) }
    case "a": try consumeAttribute(value)
    default: break
    }
  }

  private mutating func consumeAttribute(_ text: Substring) throws(SDPError) {
    guard var session else { return }
    let (name, tail) = text.cut(at: .colon)
    let value = tail ?? ""
    self.session = nil  // lets the copy be changed in place
    defer { self.session = session }
    if try session.transport.consume(name, value, lineNumber) { return }
    switch name {
    case "group":
      let words = value.words().map(String.init)
      guard let semantics = words.first else { throw malformed("group", text) }
      session.groups.append(.init(semantics: semantics, mids: Array(words.dropFirst())))
    case "msid-semantic": session.msidSemantic = String(value.trimmed)
    case "extmap-allow-mixed": session.extmapAllowMixed = true
    case "ice-lite": session.iceLite = true
    case "sendrecv", "sendonly", "recvonly", "inactive":
      sessionDirection = Direction(rawValue: String(name)) ?? .sendrecv
    default: session.otherAttributes.append(String(text))
    }
    guard session.groups.count + session.otherAttributes.count <= limits.repeats else {
      throw SDPError(line: lineNumber, .tooLarge("too many session attributes"), text)
    }
  }

  private func malformed(_ what: String, _ line: Substring) -> SDPError {
    SDPError(line: lineNumber, .malformed(what), line)
  }
}

extension SessionDescription.Origin {
  /// Session id and version are 64-bit numbers (RFC 8829, 5.2.1); larger ones are read as zero.
  init?(parsing text: Substring) {
    let words = text.words()
    guard words.count == 6, words[1].utf8.allSatisfy(isDigit), words[2].utf8.allSatisfy(isDigit) else { return nil }
    self.init(sessionID: UInt64(words[1]) ?? 0, sessionVersion: UInt64(words[2]) ?? 0)
    username = String(words[0])
    address = words[3...].joined(separator: " ")
  }
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

extension Bandwidth {
  init?(parsing text: Substring) {
    let (type, tail) = text.cut(at: .colon)
    guard let tail, let value = UInt64(tail.trimmed), !type.isEmpty else { return nil }
    self.init(type: String(type), value: value)
  }
}

extension TransportAttributes {
  /// Takes the attribute when it is one of the transport's; false when it is not.
  mutating func consume(_ name: Substring, _ value: Substring, _ line: Int) throws(SDPError) -> Bool {
    switch name {
    case "ice-ufrag": iceUfrag = String(value.trimmed)
    case "ice-pwd": icePwd = String(value.trimmed)
    case "ice-options": iceOptions = value.words().map(String.init)
    case "setup":
      guard let setup = Setup(rawValue: String(value.trimmed)) else {
        throw SDPError(line: line, .malformed("setup"), value)
      }
      self.setup = setup
    case "fingerprint":
      guard let fingerprint = Fingerprint(parsing: value) else {
        throw SDPError(line: line, .malformed("fingerprint"), value)
      }
      // A certificate may be hashed several ways, but nobody uses more than a few.
      if fingerprints.count < 16 { fingerprints.append(fingerprint) }
    default: return false
    }
    return true
  }
}
