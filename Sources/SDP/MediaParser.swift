import MediaCore

/// Collects the lines of one media section.
struct MediaParser {
  private var section: MediaSection
  private let repeats: Int
  /// `a=rtcp-fb:*` speaks for every format, also for those whose rtpmap is still to come (RFC 4585, 4.2).
  private var feedbackForAll: [String] = []
  private var line = 0

  /// `value` is the m-line after `m=`: kind, port, protocol, formats.
  init(_ value: Substring, direction: Direction, repeats: Int, _ line: Int) throws(SDPError) {
    let words = value.words()
    guard words.count >= 3, let port = UInt16(words[1].cut(at: .slash).head) else {
      throw SDPError(line: line, .malformed("m= line"), value)
    }
    section = MediaSection(kind: .init(String(words[0])), port: port, proto: String(words[2]))
    section.direction = direction
    self.repeats = repeats
    guard section.carriesRTP else {
      section.formats = words.dropFirst(3).prefix(repeats).map(String.init)
      return
    }
    var seen = Set<PayloadType>()
    for word in words.dropFirst(3) {
      guard let number = payloadTypeNumber(word) else { throw SDPError(line: line, .malformed("payload type"), word) }
      if seen.insert(number).inserted { section.codecs.append(.static(number)) }
    }
  }

  var finished: MediaSection {
    var result = section
    for index in result.codecs.indices {
      result.codecs[index].feedback += feedbackForAll.filter { !result.codecs[index].feedback.contains($0) }
    }
    return result
  }

  mutating func consume(_ letter: Substring, _ value: Substring, _ line: Int) throws(SDPError) {
    self.line = line
    switch letter {
    case "c": section.connection = String(value)
    case "b":
      if let bandwidth = Bandwidth(parsing: value) { try append(bandwidth, to: \.bandwidth) }
    case "a":
      let (name, tail) = value.cut(at: .colon)
      try consumeAttribute(name, tail ?? "", value)
    default: break
    }
  }

  private mutating func consumeAttribute(_ name: Substring, _ value: Substring, _ text: Substring) throws(SDPError) {
    if try section.transport.consume(name, value, line) { return }
    switch name {
    case "rtpmap", "fmtp", "rtcp-fb": try consumeFormat(name, value, text)
    case "ssrc", "ssrc-group", "msid", "rid", "simulcast": try consumeStream(name, value, text)
    case "mid", "extmap", "sctp-port", "max-message-size": try consumeNumbered(name, value, text)
    case "sendrecv", "sendonly", "recvonly", "inactive":
      section.direction = Direction(rawValue: String(name)) ?? section.direction
    case "extmap-allow-mixed": section.extmapAllowMixed = true
    case "rtcp-mux": section.rtcpMux = true
    case "rtcp-rsize": section.rtcpRsize = true
    case "bundle-only": section.bundleOnly = true
    case "candidate": try append(String(text), to: \.candidates)
    case "end-of-candidates": section.endOfCandidates = true
    default: try append(String(text), to: \.otherAttributes)
    }
  }

  private mutating func consumeFormat(_ name: Substring, _ value: Substring, _ text: Substring) throws(SDPError) {
    let (format, tail) = value.trimmed.cut(at: .space)
    let rest = (tail ?? "").trimmed
    if name == "rtcp-fb", format == "*" {
      if feedbackForAll.count < 32 { feedbackForAll.append(String(rest)) }
      return
    }
    guard let number = payloadTypeNumber(format),
      let index = section.codecs.firstIndex(where: { $0.payloadType == number })
    else { return try append(String(text), to: \.otherAttributes) }
    switch name {
    case "rtpmap":
      guard section.codecs[index].readMapping(rest) else { throw malformed("rtpmap", text) }
    case "fmtp":
      // Each line copies what came before, and all of it is read for each codec, so there is an end to it.
      guard (section.codecs[index].fmtp?.utf8.count ?? 0) + rest.utf8.count < 4096 else { break }
      section.codecs[index].fmtp = section.codecs[index].fmtp.map { "\($0);\(rest)" } ?? String(rest)
    default:
      if section.codecs[index].feedback.count < 32 { section.codecs[index].feedback.append(String(rest)) }
    }
  }

  private mutating func consumeStream(_ name: Substring, _ value: Substring, _ text: Substring) throws(SDPError) {
    switch name {
    case "ssrc": return try consumeSource(value, text)
    case "ssrc-group":
      let words = value.words()
      let ssrcs = words.dropFirst().compactMap { UInt32($0) }
      guard let semantics = words.first, ssrcs.count == words.count - 1 else { throw malformed("ssrc-group", text) }
      return try append(SourceGroup(semantics: String(semantics), ssrcs: ssrcs.map { SSRC($0) }), to: \.sourceGroups)
    case "msid":
      if let msid = MediaStreamID(parsing: value) { return try append(msid, to: \.msids) }
    case "rid":
      if let rid = RestrictionID(parsing: value) { return try append(rid, to: \.rids) }
    default:
      if let simulcast = Simulcast(parsing: value) {
        section.simulcast = simulcast
        return
      }
    }
    // RFC 8851, 8: a malformed rid is passed over; msid and simulcast are treated alike.
    try append(String(text), to: \.otherAttributes)
  }

  private mutating func consumeSource(_ value: Substring, _ text: Substring) throws(SDPError) {
    let (number, tail) = value.trimmed.cut(at: .space)
    guard let ssrc = UInt32(number).map({ SSRC($0) }) else { throw malformed("ssrc", text) }
    let (name, attributeValue) = (tail ?? "").trimmed.cut(at: .colon)
    let attribute = FormatParameter(name: String(name), value: attributeValue.map(String.init))
    // Lines of one source follow each other, so it is nearly always the last one.
    let index = section.sources.lastIndex { $0.ssrc == ssrc } ?? section.sources.count
    if index == section.sources.count { try append(SourceDescription(ssrc: ssrc), to: \.sources) }
    if !name.isEmpty, section.sources[index].attributes.count < 16 {
      section.sources[index].attributes.append(attribute)
    }
  }

  private mutating func consumeNumbered(_ name: Substring, _ value: Substring, _ text: Substring) throws(SDPError) {
    switch name {
    case "mid":
      guard let mid = value.words().first else { throw malformed("mid", text) }
      section.mid = String(mid)
    case "extmap":
      guard let extmap = HeaderExtension(parsing: value) else { throw malformed("extmap", text) }
      try append(extmap, to: \.headerExtensions)
    case "sctp-port":
      guard let port = UInt16(value.trimmed) else { throw malformed("sctp-port", text) }
      section.sctpPort = port
    default:
      guard let size = UInt64(value.trimmed) else { throw malformed("max-message-size", text) }
      section.maxMessageSize = size
    }
  }

  private mutating func append<Item>(_ item: Item, to list: WritableKeyPath<MediaSection, [Item]>) throws(SDPError) {
    guard section[keyPath: list].count < repeats else {
      throw SDPError(line: line, .tooLarge("an attribute repeated more than \(repeats) times"))
    }
    section[keyPath: list].append(item)
  }

  private func malformed(_ what: String, _ text: Substring) -> SDPError {
    SDPError(line: line, .malformed(what), text)
  }
}

extension Codec {
  /// A format before its rtpmap is read; payload types below 96 have fixed meanings that need none (RFC 3551, 6).
  static func `static`(_ payloadType: PayloadType) -> Codec {
    switch payloadType.rawValue {
    case 0: Codec(payloadType: payloadType, name: "PCMU", clockRate: 8000)
    case 8: Codec(payloadType: payloadType, name: "PCMA", clockRate: 8000)
    case 9: Codec(payloadType: payloadType, name: "G722", clockRate: 8000)
    case 13: Codec(payloadType: payloadType, name: "CN", clockRate: 8000)
    default: Codec(payloadType: payloadType, name: "", clockRate: 0)
    }
  }

  /// `opus/48000/2`; false when it is not of that shape.
  mutating func readMapping(_ text: Substring) -> Bool {
    let parts = text.parts(separatedBy: .slash)
    guard parts.count == 2 || parts.count == 3, let rate = UInt32(parts[1]) else { return false }
    if parts.count == 3 {
      guard let count = UInt8(parts[2]) else { return false }
      channels = Int(count)
    }
    name = String(parts[0])
    clockRate = rate
    return true
  }
}

extension HeaderExtension {
  /// `3/sendonly URI attributes`.
  init?(parsing text: Substring) {
    let words = text.words(limit: 3)
    guard words.count >= 2 else { return nil }
    let (number, direction) = words[0].cut(at: .slash)
    guard let id = UInt16(number), id > 0 else { return nil }
    self.init(
      id: id, uri: String(words[1]), direction: direction.flatMap { Direction(rawValue: String($0)) },
      attributes: words.count > 2 ? String(words[2]) : nil)
  }
}
