import SDP

/// What was agreed on with the server about what it sends. Pure.
struct SubscriberNegotiation {
  private var negotiator: Negotiator?
  /// What the newest answer agreed on, and which track a section carries.
  private var sections: [NegotiatedSection] = []
  private var mids: [String: String] = [:]

  /// - Parameter mids: which track a section carries, where the server says it apart from the description.
  mutating func answer(
    _ offer: SDP.SessionDescription, transport: LocalTransport, mids: [String: String]
  ) -> SDP.SessionDescription {
    var negotiator = negotiator ?? Negotiator(sessionID: .random(in: 1..<(1 << 62)), transport: transport)
    negotiator.transport = transport
    let answer = negotiator.answer(offer, capabilities: .subscriber)
    self.negotiator = negotiator
    (sections, self.mids) = (answer.sections, mids)
    return answer.description
  }

  /// The tracks that are sent in codecs that are known here. What is being received goes on, whatever is said of it: its
  /// packets know better.
  /// - Parameters:
  ///   - codecs: MIME types of the published tracks by SID, as the server prefers them.
  ///   - received: what is being received.
  func tracks(codecs: [String: [String]], received: some Collection<OfferedTrack>) -> [OfferedTrack] {
    sections.compactMap { section in
      OfferedTrack(section, mids: mids, codecs: codecs) ?? received.first { $0.goesOn(in: section) }
    }
  }
}
