import CGStreamer

/// Turns what the parser of pipeline descriptions says into a `PipelineError` with a place in the text.
struct ParseDiagnosis {
  let description: String
  let locate: ((Int) -> SourceLocation?)?

  func missing(_ names: [String]) -> PipelineError {
    let message = "missing element\(names.count == 1 ? "" : "s"): \(names.joined(separator: ", "))"
    return PipelineError(
      .missingElements(names), message, element: names.first, location: names.first.flatMap { place(of: $0) })
  }

  /// - Parameter message: GObject's: `value "-1" of type 'gint' is invalid or out of range for property 'rate' of type
  ///   …`.
  func refused(_ message: String) -> PipelineError {
    let words = message.split(separator: "'", omittingEmptySubsequences: false)
    let property = words.count > 3 ? String(words[3]) : ""
    return PipelineError(
      .property, "the value of property \"\(property)\" is out of range", location: place(of: property))
  }

  /// - Parameter factory: of the first element of a branch.
  func unlinked(_ factory: String, behind tee: String) -> PipelineError {
    PipelineError(
      .link, "\(factory) does not take what comes out of \"\(tee)\"", element: factory, location: place(of: factory))
  }

  func failure(domain: GQuark, code: Int32, message: String) -> PipelineError {
    guard domain == gst_parse_error_quark() else { return PipelineError(.syntax, message) }
    let kind: PipelineError.Kind
    switch GstParseError(rawValue: UInt32(bitPattern: code)) {
    case GST_PARSE_ERROR_NO_SUCH_PROPERTY, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY: kind = .property
    case GST_PARSE_ERROR_LINK, GST_PARSE_ERROR_DELAYED_LINK: kind = .link
    default: kind = .syntax
    }
    if message.contains("(null)"), let name = lostName {
      return PipelineError(
        .link, "there is a link with \"\(name)\", and nothing is called so", location: place(of: name))
    }
    let quoted = message.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    let place =
      kind == .property
      ? self.place(ofProperty: quoted) : blamedWord(in: message, quoted).flatMap { self.place(of: $0) }
    return PipelineError(kind, message, location: place)
  }

  /// The word of the message that also stands in the text, for the parser gives no offsets: `could not link decoder to sink`.
  /// Behind a comma it says why, with caps that may stand elsewhere, too.
  private func blamedWord(in message: String, _ quoted: [String]) -> String? {
    let sentence = message.split(separator: ",").first ?? ""
    let words = quoted + sentence.split(separator: " ").reversed().map(trimInstanceNumber)
    return words.first { $0.count > 2 && !Self.prose.contains($0) && place(of: $0) != nil }
  }

  /// - Parameter words: `could not set property "width" in element "videobox" to "wide"`: the property, the element by its
  ///   name or its factory's, and the value where there is one.
  private func place(ofProperty words: [String]) -> SourceLocation? {
    guard let property = words.first else { return nil }
    let text = Array(description.utf8)
    let settings = offsets(of: property).filter { text.dropFirst($0 + property.utf8.count).first == UInt8(ascii: "=") }
    let own = settings.filter { setting in
      let head = text[..<setting].lastIndex(of: UInt8(ascii: "!")).map { $0 + 1 } ?? 0
      return words.count < 2 || offsets(of: words[1]).contains { (head..<setting).contains($0) }
    }
    let value = words.count > 2 ? Array(words[2].utf8) : []
    let exact = own.filter {
      text.dropFirst($0 + property.utf8.count + 1).drop { $0 == UInt8(ascii: "\"") }.starts(with: value)
    }
    return (exact.first ?? own.first ?? settings.first ?? offset(of: property)).flatMap { offset in locate?(offset) }
  }

  /// What a link such as `name.` or `name.pad` speaks of and no element is called; the parser says only that it lacks one.
  private var lostName: String? {
    let words = description.split(whereSeparator: \.isWhitespace)
    let names = Set(words.filter { $0.hasPrefix("name=") }.map { $0.dropFirst(5).filter { $0 != "\"" } })
    return words.compactMap { $0.wholeMatch(of: /([A-Za-z0-9_-]+)\.[A-Za-z0-9_%-]*/).map { String($0.1) } }
      .first { !names.contains($0) }
  }

  /// Words of the parser's own sentences.
  private static let prose: Set<String> = [
    "could", "not", "link", "with", "caps", "property", "element", "set", "the", "delayed", "sink", "can't", "handle",
  ]

  /// "vp8dec0" is the automatic name of the first `vp8dec`.
  private func trimInstanceNumber(_ word: Substring) -> String {
    if offset(of: String(word)) != nil { return String(word) }
    var word = word
    while let last = word.last, last.isNumber { word.removeLast() }
    return String(word)
  }

  private func place(of word: String) -> SourceLocation? {
    guard let locate else { return nil }
    return offset(of: word).flatMap(locate)
  }

  /// Bytes from the start of the text to the first whole word that is `word`.
  private func offset(of word: String) -> Int? { offsets(of: word).first }

  private func offsets(of word: String) -> [Int] {
    let text = Array(description.utf8)
    let sought = Array(word.utf8)
    guard !sought.isEmpty, text.count >= sought.count else { return [] }
    return (0...(text.count - sought.count)).filter { start in
      text[start..<(start + sought.count)].elementsEqual(sought)
        && !isWordByte(start == 0 ? nil : text[start - 1])
        && !isWordByte(start + sought.count < text.count ? text[start + sought.count] : nil)
    }
  }

  private func isWordByte(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    let character = Character(UnicodeScalar(byte))
    return character.isLetter || character.isNumber || character == "_" || character == "-"
  }
}
