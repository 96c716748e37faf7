import SDP

extension Exercise {
  private static let transport = LocalTransport(
    iceUfrag: "abcd", icePwd: "0123456789abcdefghijkl", fingerprint: Fingerprint(algorithm: "SHA-256", value: "aa:bb"))

  func sdp(_ text: String) -> Int {
    if let candidate = ICECandidate(parsing: text) {
      precondition(ICECandidate(parsing: candidate.description) == candidate, "a candidate changes when written")
    }
    guard let session = try? SessionDescription(parsing: text) else { return 0 }
    let written = session.description
    precondition((try? SessionDescription(parsing: written))?.description == written, "it changes when written")
    for capabilities in [MediaCapabilities.server(takesOrientation: true), .subscriber] {
      let answer = Answer(
        to: session, origin: .init(sessionID: 7, sessionVersion: 2), capabilities: capabilities,
        transport: Self.transport)
      precondition(answer.description.media.count == session.media.count, "a section is not answered")
      precondition(
        (try? SessionDescription(parsing: answer.description.description)) == answer.description,
        "an answer of ours is not read as what it is")
    }
    var negotiator = Negotiator(sessionID: 7, transport: Self.transport)
    negotiator.addDataChannels()
    _ = negotiator.makeOffer()
    _ = try? negotiator.accept(session)
    return 1 + session.media.count
  }
}
