extension SessionDescription: CustomStringConvertible {
  /// The text with CRLF line ends, ready to be sent.
  public var description: String {
    var writer = LineWriter()
    writer.line("v", "0")
    writer.line("o", "\(origin.username) \(origin.sessionID) \(origin.sessionVersion) \(origin.address)")
    writer.line("s", name.isEmpty ? "-" : name)
    if let connection { writer.line("c", connection) }
    for limit in bandwidth { writer.line("b", "\(limit.type):\(limit.value)") }
    writer.line("t", timing)
    for group in groups { writer.attribute("group", ([group.semantics] + group.mids).joined(separator: " ")) }
    if iceLite { writer.flag("ice-lite") }
    if extmapAllowMixed { writer.flag("extmap-allow-mixed") }
    if let msidSemantic { writer.attribute("msid-semantic", " " + msidSemantic) }
    writer.transport(transport)
    for attribute in otherAttributes { writer.flag(attribute) }
    for section in media { writer.section(section) }
    return writer.text
  }
}

/// Builds the text. Every line passes through `line`, which is the one place that keeps a value from starting a new one.
private struct LineWriter {
  private(set) var text = ""

  mutating func line(_ letter: String, _ value: String) {
    text += letter
    text += "="
    if value.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) {
      text += String(decoding: value.utf8.filter { $0 != 10 && $0 != 13 && $0 != 0 }, as: UTF8.self)
    } else {
      text += value
    }
    text += "\r\n"
  }

  mutating func flag(_ name: String) { line("a", name) }
  mutating func attribute(_ name: String, _ value: String) { line("a", "\(name):\(value)") }

  mutating func transport(_ transport: TransportAttributes) {
    if let ufrag = transport.iceUfrag { attribute("ice-ufrag", ufrag) }
    if let pwd = transport.icePwd { attribute("ice-pwd", pwd) }
    if !transport.iceOptions.isEmpty { attribute("ice-options", transport.iceOptions.joined(separator: " ")) }
    for fingerprint in transport.fingerprints { attribute("fingerprint", fingerprint.description) }
    if let setup = transport.setup { attribute("setup", setup.rawValue) }
  }

  mutating func section(_ section: MediaSection) {
    let formats = section.carriesRTP ? section.codecs.map(\.payloadType.description) : section.formats
    line("m", ([section.kind.text, String(section.port), section.proto] + formats).joined(separator: " "))
    if let connection = section.connection { line("c", connection) }
    for limit in section.bandwidth { line("b", "\(limit.type):\(limit.value)") }
    if let mid = section.mid { attribute("mid", mid) }
    if section.bundleOnly { flag("bundle-only") }
    if section.direction != .sendrecv || section.carriesRTP { flag(section.direction.rawValue) }
    transport(section.transport)
    if section.rtcpMux { flag("rtcp-mux") }
    if section.rtcpRsize { flag("rtcp-rsize") }
    for format in section.codecs { codec(format) }
    if section.extmapAllowMixed { flag("extmap-allow-mixed") }
    for item in section.headerExtensions { extmap(item) }
    streams(section)
    if let port = section.sctpPort { attribute("sctp-port", String(port)) }
    if let size = section.maxMessageSize { attribute("max-message-size", String(size)) }
    for attribute in section.otherAttributes { flag(attribute) }
    for candidate in section.candidates {
      flag(candidate.hasPrefix("candidate:") ? candidate : "candidate:" + candidate)
    }
    if section.endOfCandidates { flag("end-of-candidates") }
  }

  private mutating func codec(_ codec: Codec) {
    if !codec.name.isEmpty {
      let channels = codec.channels.map { "/\($0)" } ?? ""
      attribute("rtpmap", "\(codec.payloadType) \(codec.name)/\(codec.clockRate)\(channels)")
    }
    for feedback in codec.feedback { attribute("rtcp-fb", "\(codec.payloadType) \(feedback)") }
    if let fmtp = codec.fmtp { attribute("fmtp", "\(codec.payloadType) \(fmtp)") }
  }

  private mutating func extmap(_ extmap: HeaderExtension) {
    let id = extmap.direction.map { "\(extmap.id)/\($0.rawValue)" } ?? String(extmap.id)
    attribute("extmap", "\(id) \(extmap.uri)" + (extmap.attributes.map { " \($0)" } ?? ""))
  }

  private mutating func streams(_ section: MediaSection) {
    for msid in section.msids { attribute("msid", msid.text) }
    for rid in section.rids {
      attribute("rid", "\(rid.id) \(rid.direction.rawValue)" + (rid.restrictions.map { " \($0)" } ?? ""))
    }
    if let simulcast = section.simulcast { attribute("simulcast", simulcast.text) }
    for group in section.sourceGroups {
      attribute("ssrc-group", ([group.semantics] + group.ssrcs.map(\.description)).joined(separator: " "))
    }
    for source in section.sources {
      if source.attributes.isEmpty { attribute("ssrc", source.ssrc.description) }
      for item in source.attributes {
        attribute("ssrc", "\(source.ssrc) \(item.name)" + (item.value.map { ":\($0)" } ?? ""))
      }
    }
  }
}
