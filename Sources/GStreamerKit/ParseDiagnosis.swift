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
    return PipelineError(kind, message, location: blamedWord(in: message).flatMap { place(of: $0) })
  }

  /// The word of the message that also stands in the text: `no property "colour" in element "frame"`,
  /// `could not link decoder to sink`. The parser gives no offsets.
  private func blamedWord(in message: String) -> String? {
    let quoted = message.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    let words = quoted + message.split { " ,".contains($0) }.reversed().map(trimInstanceNumber)
    return words.first { $0.count > 2 && !Self.prose.contains($0) && place(of: $0) != nil }
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
  private func offset(of word: String) -> Int? {
    let text = Array(description.utf8)
    let sought = Array(word.utf8)
    guard !sought.isEmpty, text.count >= sought.count else { return nil }
    return (0...(text.count - sought.count)).first { start in
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
