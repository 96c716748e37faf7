import MediaCore

/// The answer to an offer (RFC 8829, 5.3), as text to send and as what it agrees to.
public struct Answer: Equatable, Sendable {
  /// What to do with one m-line of the offer.
  public enum Decision: Equatable, Sendable {
    /// It stays in the answer with port 0.
    case reject
    /// At most this; the offer may allow less.
    case accept(Direction)
  }

  /// What is sent to the other side.
  public var description: SessionDescription
  /// One for each m-line of the offer.
  public var sections: [NegotiatedSection]

  /// Takes the sections that lie on the offer's one bundled transport, have a format in common with `capabilities`
  /// and are not refused by `decide`.
  ///
  /// - Parameter decide: asked once for each section that could be accepted, data channels included.
  public init(
    to offer: SessionDescription, origin: SessionDescription.Origin, capabilities: MediaCapabilities,
    transport: LocalTransport, decide: (MediaSection) -> Decision = { _ in .accept(.recvonly) }
  ) {
    description = SessionDescription(origin: origin)
    description.extmapAllowMixed = offer.extmapAllowMixed
    description.msidSemantic = offer.msidSemantic == nil ? nil : "WMS *"
    sections = []
    let builder = AnswerBuilder(offer: offer, capabilities: capabilities, transport: transport)
    var used = Set<String>()
    for (index, offered) in offer.media.enumerated() {
      let answered = builder.section(offered, isNew: used.insert(offered.mid ?? "").inserted, decide)
      description.media.append(answered)
      sections.append(
        NegotiatedSection(index: index, answer: answered, remote: offered, direction: answered.direction))
    }
    let accepted = description.media.filter { !$0.isRejected }.compactMap(\.mid)
    if offer.bundle != nil { description.groups = [.init(semantics: "BUNDLE", mids: accepted)] }
  }
}

private struct AnswerBuilder {
  let offer: SessionDescription
  let capabilities: MediaCapabilities
  let transport: LocalTransport
  /// The mids that share the transport. Without a group only the first live section can have it.
  private let reachable: Set<String>

  init(offer: SessionDescription, capabilities: MediaCapabilities, transport: LocalTransport) {
    self.offer = offer
    self.capabilities = capabilities
    self.transport = transport
    reachable = Set(offer.bundle ?? [offer.bundleSection?.mid ?? ""])
  }

  func section(_ offered: MediaSection, isNew: Bool, _ decide: (MediaSection) -> Answer.Decision) -> MediaSection {
    guard isNew, !offered.isRejected, reachable.contains(offered.mid ?? "") else { return rejected(offered) }
    if offered.isDataChannels { return dataChannels(offered, decide) }
    guard offered.carriesRTP, offered.rtcpMux, let media = capabilities.media(for: offered.kind) else {
      return rejected(offered)
    }
    let codecs = acceptedCodecs(offered, media)
    guard !codecs.isEmpty, case .accept(let wanted) = decide(offered) else { return rejected(offered) }
    var answer = base(offered)
    answer.codecs = codecs
    answer.direction = wanted.limited(to: offered.direction.reversed)
    answer.rtcpMux = true
    answer.rtcpRsize = offered.rtcpRsize
    answer.extmapAllowMixed = offered.extmapAllowMixed
    answer.headerExtensions = acceptedExtensions(offered, media)
    if capabilities.receivesSimulcast, answer.direction.receives { answerSimulcast(offered, &answer) }
    return answer
  }

  private func base(_ offered: MediaSection) -> MediaSection {
    var answer = MediaSection(kind: offered.kind, port: 9, proto: offered.proto)
    answer.connection = "IN IP4 0.0.0.0"
    answer.mid = offered.mid
    answer.transport = transport.attributes(setup: transport.setup(answering: offer.transport(of: offered).setup))
    return answer
  }

  /// Keeps the place of the m-line: port 0 and a format, since the syntax asks for one (RFC 8829, 5.3.1).
  private func rejected(_ offered: MediaSection) -> MediaSection {
    var answer = MediaSection(kind: offered.kind, port: 0, proto: offered.proto)
    answer.connection = "IN IP4 0.0.0.0"
    answer.mid = offered.mid
    answer.direction = .inactive
    answer.formats = Array(offered.formats.prefix(1))
    answer.codecs = offered.codecs.prefix(1).map {
      Codec(payloadType: $0.payloadType, name: $0.name, clockRate: $0.clockRate, channels: $0.channels)
    }
    return answer
  }

  private func dataChannels(_ offered: MediaSection, _ decide: (MediaSection) -> Answer.Decision) -> MediaSection {
    guard case .accept = decide(offered) else { return rejected(offered) }
    var answer = base(offered)
    answer.formats = ["webrtc-datachannel"]
    answer.sctpPort = 5000
    answer.maxMessageSize = capabilities.maxMessageSize
    return answer
  }

  private func acceptedCodecs(_ offered: MediaSection, _ media: MediaCapabilities.Media) -> [Codec] {
    let primary = offered.codecs.filter { codec in media.formats.contains { $0.matches(codec) } }
    guard !primary.isEmpty else { return [] }
    return offered.codecs.filter { accepts($0, primary) }.map { codec in
      var answer = codec
      answer.feedback = codec.feedback.filter(media.feedback.contains)
      return answer
    }
  }

  private func accepts(_ codec: Codec, _ primary: [Codec]) -> Bool {
    if primary.contains(where: { $0.payloadType == codec.payloadType }) { return true }
    if codec.isRTX {
      return capabilities.rtx && primary.contains { $0.payloadType == codec.associatedPayloadType }
    }
    // The timestamp of a RED packet is its primary payload's, so that both have one clock (RFC 2198, 3).
    return codec.isRED && capabilities.red
      && primary.contains { $0.payloadType == codec.redundantPayloadTypes.first && $0.clockRate == codec.clockRate }
  }

  /// The ids are the offer's (RFC 8285, 6); an id or a URI that appears twice counts once.
  private func acceptedExtensions(_ offered: MediaSection, _ media: MediaCapabilities.Media) -> [HeaderExtension] {
    var ids = Set<UInt16>()
    var uris = Set<String>()
    return offered.headerExtensions.filter { extmap in
      media.headerExtensions.contains(extmap.uri) && ids.insert(extmap.id).inserted && uris.insert(extmap.uri).inserted
    }
    .map { HeaderExtension(id: $0.id, uri: $0.uri, direction: $0.direction?.reversed) }
  }

  /// Each stream that the offer would send is taken, by its preferred alternative (RFC 8853, 5.3).
  private func answerSimulcast(_ offered: MediaSection, _ answer: inout MediaSection) {
    let known = Set(offered.rids.filter { $0.direction == .send }.map(\.id))
    let streams = (offered.simulcast?.send ?? []).compactMap { $0.first?.rid }.filter(known.contains)
    guard !streams.isEmpty else { return }
    answer.rids = streams.map { RestrictionID(id: $0, direction: .recv) }
    answer.simulcast = Simulcast(recv: streams.map { [.init(rid: $0)] })
  }
}
