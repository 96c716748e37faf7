import MediaCore
import SDP

extension Exercise {
  private static let transport = LocalTransport(
    iceUfrag: "abcd", icePwd: "0123456789abcdefghijkl", fingerprint: Fingerprint(algorithm: "SHA-256", value: "aa:bb"))

  func sdp(_ text: String) -> Int {
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

  /// What is agreed on was offered, whatever the answer says.
  func answers(_ text: String) -> Int {
    guard let answer = try? SessionDescription(parsing: text) else { return 0 }
    var negotiator = Negotiator(sessionID: 7, transport: Self.transport)
    negotiator.addDataChannels()
    for track in Self.offered { _ = negotiator.add(track) }
    guard let offer = negotiator.makeOffer(), let agreed = try? negotiator.accept(answer) else { return 0 }
    precondition(agreed.count == offer.media.count, "not each section is agreed on or rejected")
    for (section, offered) in zip(agreed, offer.media) {
      let numbers = Set(offered.codecs.map(\.payloadType))
      precondition(section.formats.allSatisfy { numbers.contains($0.payloadType) }, "a format was never offered")
      precondition(section.mid == offered.mid && !(section.direction.receives && !offered.direction.receives))
      for element in section.headerExtensions { _ = section.extensionID(element.uri) }
    }
    negotiator.remove(mid: "1")
    precondition(negotiator.makeOffer()?.media.count == offer.media.count, "a section is lost")
    return agreed.count(where: \.isAccepted)
  }

  private static let offered = [
    sending(.audio, CodecCatalogue.opusInRED, ssrc: SSRC(1)),
    sending(.video, CodecCatalogue.vp8(), rids: ["q", "h", "f"]),
    sending(.video, CodecCatalogue.h264(), ssrc: SSRC(2), rtx: SSRC(3)),
  ]

  private static func sending(
    _ kind: MediaSection.Kind, _ codecs: [Codec], ssrc: SSRC? = nil, rtx: SSRC? = nil, rids: [String] = []
  ) -> SendingTrack {
    let extensions = [HeaderExtensionURI.transportCC, HeaderExtensionURI.mid, HeaderExtensionURI.rtpStreamID]
    return SendingTrack(
      kind: kind, msid: MediaStreamID(stream: "s", track: "t"), codecs: codecs,
      headerExtensions: CodecCatalogue.extensions(extensions), cname: "c", ssrc: ssrc, rtxSSRC: rtx, rids: rids)
  }
}
