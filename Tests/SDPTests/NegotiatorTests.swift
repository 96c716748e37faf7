import Testing

@testable import SDP

@Suite struct NegotiatorTests {
  private func video(_ sid: String, ssrc: UInt32 = 10) -> SendingTrack {
    SendingTrack(
      kind: .video, msid: MediaStreamID(stream: "PA_a|\(sid)", track: sid), codecs: CodecCatalogue.vp8(),
      headerExtensions: CodecCatalogue.extensions([HeaderExtensionURI.absSendTime]), cname: "PA_a",
      ssrc: .init(ssrc), rtxSSRC: .init(ssrc + 1))
  }

  private func audio(_ sid: String) -> SendingTrack {
    SendingTrack(
      kind: .audio, msid: MediaStreamID(stream: "PA_a|\(sid)", track: sid), codecs: CodecCatalogue.opusInRED,
      cname: "PA_a", ssrc: .init(5))
  }

  /// `#require` cannot call a mutating method.
  private func nextOffer(_ negotiator: inout Negotiator) throws -> SessionDescription {
    let offer = negotiator.makeOffer()
    return try #require(offer)
  }

  /// What the other side answers, through text as on the wire.
  private func answer(_ offer: SessionDescription, reject: Set<String> = []) throws -> SessionDescription {
    let parsed = try SessionDescription(parsing: offer.description)
    let answer = Answer(
      to: parsed, origin: Sample.origin, capabilities: .subscriber, transport: Sample.transport,
      decide: { reject.contains($0.mid ?? "") ? .reject : .accept(.recvonly) })
    return try SessionDescription(parsing: answer.description.description)
  }

  @Test func aServerOffersTracks() throws {
    var server = Negotiator(sessionID: 9, transport: Sample.transport)
    server.addDataChannels()
    let mids = [server.add(audio("TR_1")), server.add(video("TR_2"))]
    #expect(mids == ["1", "2"] && server.needsOffer)
    let offer = try nextOffer(&server)
    #expect(offer.bundle == ["0", "1", "2"])
    #expect(offer.media.map(\.kind) == [.application, .audio, .video])
    #expect(offer.media[2].direction == .sendonly && offer.media[2].transport.setup == .actpass)
    let text = offer.description
    #expect(text.contains("a=msid:PA_a|TR_2 TR_2\r\n") && text.contains("a=ssrc-group:FID 10 11\r\n"))
    #expect(text.contains("a=ssrc:11 cname:PA_a\r\n"))
    #expect(server.isAwaitingAnswer && !server.needsOffer)
    let early = server.makeOffer()
    #expect(early == nil)
    let agreed = try server.accept(try answer(offer))
    #expect(agreed.map(\.direction) == [.sendrecv, .sendonly, .sendonly])
    #expect(agreed[2].formats.map(\.payloadType.rawValue) == [96] && agreed[2].formats[0].rtx == .init(97))
    #expect(!server.isAwaitingAnswer)
  }

  @Test func sectionsStayAndAreUsedAgain() throws {
    var server = Negotiator(sessionID: 9, transport: Sample.transport)
    let (first, second) = (server.add(video("TR_1")), server.add(video("TR_2", ssrc: 20)))
    let one = try nextOffer(&server)
    _ = try server.accept(try answer(one))
    server.remove(mid: first)
    let two = try nextOffer(&server)
    #expect(two.origin.sessionVersion == one.origin.sessionVersion + 1 && two.origin.sessionID == 9)
    #expect(two.media.map(\.direction) == [.inactive, .sendonly] && two.media[0].msid == nil)
    #expect(two.media[0].sources.isEmpty && two.bundle == ["0", "1"])
    let agreed = try server.accept(try answer(two))
    #expect(agreed.map(\.direction) == [.inactive, .sendonly])
    let mids = [server.add(audio("TR_3")), server.add(video("TR_4", ssrc: 30))]
    #expect(mids == ["2", first])
    let three = try nextOffer(&server)
    #expect(three.media.map(\.mid) == ["0", "1", "2"] && three.media[0].msid?.track == "TR_4")
    #expect(Set(server.tracks.keys) == [first, second, "2"])
  }

  @Test func aRejectedSectionIsStoppedAndRecycledUnderANewMid() throws {
    var server = Negotiator(sessionID: 9, transport: Sample.transport)
    server.addDataChannels()
    let mid = server.add(video("TR_1"))
    let offer = try nextOffer(&server)
    let agreed = try server.accept(try answer(offer, reject: [mid]))
    #expect(agreed.map(\.isAccepted) == [true, false])
    let again = try nextOffer(&server)
    #expect(again.media[1].isRejected && again.bundle == ["0"])
    _ = try server.accept(try answer(again))
    let fresh = server.add(audio("TR_2"))
    #expect(fresh == "2")
    let third = try nextOffer(&server)
    #expect(third.media.map(\.kind) == [.application, .audio] && third.bundle == ["0", "2"])
  }

  @Test func aClientOffersSimulcast() throws {
    var client = Negotiator(sessionID: 9, transport: Sample.transport)
    _ = client.add(
      SendingTrack(
        kind: .video, msid: MediaStreamID(stream: "-", track: "camera"), codecs: CodecCatalogue.h264(),
        headerExtensions: CodecCatalogue.extensions([HeaderExtensionURI.mid, HeaderExtensionURI.rtpStreamID]),
        cname: "c", rids: ["q", "h", "f"]))
    let offer = try nextOffer(&client)
    #expect(offer.description.contains("a=rid:q send\r\n") && offer.description.contains("a=simulcast:send q;h;f\r\n"))
    #expect(offer.media[0].headerExtensions.map(\.id) == [4, 5])
    var server = Negotiator(sessionID: 3, transport: Sample.transport)
    let answer = server.answer(offer, capabilities: .server())
    #expect(answer.sections[0].remoteRids == ["q", "h", "f"] && answer.sections[0].direction == .recvonly)
    let agreed = try client.accept(answer.description)
    #expect(agreed[0].direction == .sendonly)
    let next = server.answer(offer, capabilities: .server())
    #expect(next.description.origin.sessionVersion == answer.description.origin.sessionVersion + 1)
  }

  @Test func anAnswerMustFit() throws {
    var server = Negotiator(sessionID: 9, transport: Sample.transport)
    _ = server.add(video("TR_1"))
    #expect(throws: NegotiationError.noOfferOutstanding) {
      try server.accept(SessionDescription(origin: Sample.origin))
    }
    let offered = try nextOffer(&server)
    var answered = try answer(offered)
    #expect(throws: NegotiationError.sectionMismatch(index: 0)) {
      try server.accept(SessionDescription(origin: Sample.origin))
    }
    answered.media.append(MediaSection(kind: .audio))
    #expect(throws: NegotiationError.sectionMismatch(index: 1)) { try server.accept(answered) }
    answered.media.removeLast()
    answered.media[0].mid = "other"
    #expect(throws: NegotiationError.sectionMismatch(index: 0)) { try server.accept(answered) }
    #expect(server.isAwaitingAnswer)
    server.abandonOffer()
    #expect(server.needsOffer)
    _ = try nextOffer(&server)
  }

  @Test func catalogueNumbersAreUnique() {
    let all =
      CodecCatalogue.opusInRED + CodecCatalogue.vp8() + CodecCatalogue.vp9() + CodecCatalogue.h264()
      + CodecCatalogue.av1()
    #expect(Set(all.map(\.payloadType)).count == all.count)
    for codec in all where codec.isRTX { #expect(all.contains { $0.payloadType == codec.associatedPayloadType }) }
  }
}
