import Testing

@testable import SDP

/// What a subscriber answers to the offers of a LiveKit server over the life of a connection.
@Suite struct LiveKitOfferTests {
  private var client = Negotiator(sessionID: 9, transport: Sample.transport)

  /// Through text both ways, as on the wire.
  private mutating func answer(_ offer: PionOffer) throws -> Answer {
    let answer = client.answer(try SessionDescription(parsing: offer.text), capabilities: .subscriber)
    let again = try SessionDescription(parsing: answer.description.description)
    #expect(again == answer.description)
    return answer
  }

  @Test mutating func theFirstOfferHasTracksBeforeTheDataChannels() throws {
    let answer = try answer(
      PionOffer(sections: [.audio(sid: "TR_AM", ssrc: 10), .video(sid: "TR_VC", ssrc: 20), .data]))
    #expect(answer.description.media.map(\.kind) == [.audio, .video, .application])
    #expect(answer.description.media.map(\.port) == [9, 9, 9])
    #expect(answer.description.media.map(\.direction) == [.recvonly, .recvonly, .sendrecv])
    #expect(answer.description.media.map(\.transport.setup) == [.active, .active, .active])
    #expect(answer.description.bundle == ["0", "1", "2"])
    #expect(answer.description.media[2].sctpPort == 5000)
    #expect(answer.sections[1].remoteMsid == MediaStreamID(stream: "PA_alice|TR_VC", track: "TR_VC"))
    #expect(answer.sections[1].remoteSources.map(\.ssrc.rawValue) == [20, 21])
    #expect(answer.sections[1].remoteSourceGroups == [SourceGroup(semantics: "FID", ssrcs: [.init(20), .init(21)])])
  }

  @Test mutating func ofEveryCodecOfTheServerWeTakeOurs() throws {
    let answer = try answer(PionOffer(sections: [.audio(sid: "TR_AM", ssrc: 10), .video(sid: "TR_VC", ssrc: 20)]))
    #expect(answer.description.media[0].codecs.map(\.payloadType.rawValue) == [111, 63])
    #expect(
      answer.description.media[1].codecs.map(\.payloadType.rawValue) == [96, 97, 98, 99, 125, 126, 108, 109, 35, 36])
    #expect(answer.sections[1].formats.map(\.rtx?.rawValue) == [97, 99, 126, 109, 36])
    #expect(answer.description.media[1].codecs[0].feedback == ["ccm fir", "nack", "nack pli", "goog-remb"])
    // The server finds the variant again by its parameters.
    #expect(
      answer.description.media[1].codecs[6].fmtp
        == "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f")
  }

  @Test mutating func theTransportIsReadFromSessionAndSection() throws {
    let offer = try SessionDescription(parsing: PionOffer(sections: [.data], isLite: true).text)
    let transport = try #require(offer.bundleTransport)
    #expect(offer.iceLite && transport.setup == .actpass && transport.iceUfrag == "serverufrag")
    #expect(transport.fingerprints.map(\.algorithm) == ["sha-256"])
  }

  @Test mutating func aRemovedTrackLeavesItsPlace() throws {
    _ = try answer(PionOffer(sections: [.data, .audio(sid: "TR_AM", ssrc: 10), .video(sid: "TR_VC", ssrc: 20)]))
    let answer = try answer(
      PionOffer(sections: [.data, .audio(sid: "TR_AM", ssrc: 10), .removedVideo], version: 2))
    #expect(answer.sections.map(\.isAccepted) == [true, true, true])
    #expect(answer.description.media.map(\.direction) == [.sendrecv, .recvonly, .inactive])
    #expect(!answer.sections[2].direction.receives && answer.sections[2].remoteMsid == nil)
    #expect(answer.sections[2].remoteSources.isEmpty && answer.description.bundle == ["0", "1", "2"])
  }

  @Test mutating func aSectionIsUsedAgainByAnotherTrack() throws {
    _ = try answer(PionOffer(sections: [.data, .video(sid: "TR_VC1", ssrc: 20)]))
    _ = try answer(PionOffer(sections: [.data, .removedVideo], version: 2))
    let third = try answer(PionOffer(sections: [.data, .video(sid: "TR_VC2", ssrc: 30)], version: 3))
    #expect(third.sections[1].mid == "1" && third.sections[1].direction == .recvonly)
    #expect(third.sections[1].remoteMsid?.track == "TR_VC2")
    #expect(third.sections[1].remoteSources.map(\.ssrc.rawValue) == [30, 31])
    #expect(third.description.origin.sessionID == 9 && third.description.origin.sessionVersion == 4)
  }

  @Test mutating func aStoppedSectionIsAnsweredInactive() throws {
    let answer = try answer(PionOffer(sections: [.stoppedVideo, .data]))
    #expect(answer.description.media.map(\.direction) == [.inactive, .sendrecv])
    #expect(answer.sections.map(\.isAccepted) == [true, true])
  }

  /// It stands outside the bundle, may come first, and must not take the transport or the place of others with it.
  @Test mutating func aSectionWithoutCodecsIsPassedOver() throws {
    let offer = PionOffer(sections: [.withoutCodecs, .withoutCodecs, .data, .video(sid: "TR_VC", ssrc: 20)])
    let parsed = try SessionDescription(parsing: offer.text)
    #expect(parsed.bundleTransport?.iceUfrag == "serverufrag")
    let answer = try answer(offer)
    #expect(answer.description.media.map(\.port) == [0, 0, 9, 9])
    #expect(answer.description.bundle == ["2", "3"])
    #expect(answer.sections[3].direction == .recvonly)
  }

  @Test mutating func aLargeRoomFits() throws {
    var sections: [PionOffer.Section] = [.data]
    for number in 0..<50 {
      let ssrc = UInt32(number) * 10 + 100
      let sid = "TR_\(number)"
      sections.append(number % 2 == 0 ? .audio(sid: sid, ssrc: ssrc) : .video(sid: sid, ssrc: ssrc))
    }
    let answer = try answer(PionOffer(sections: sections))
    #expect(answer.sections.count == 51 && answer.sections.allSatisfy { $0.isAccepted })
    #expect(answer.sections.dropFirst().map(\.remoteMsid?.track) == (0..<50).map { "TR_\($0)" })
    #expect(Set(answer.sections.flatMap { $0.remoteSources.map(\.ssrc) }).count == 75)
    #expect(answer.description.bundle?.count == 51)
  }

  @Test mutating func twoTracksOfOneParticipantStayApart() throws {
    // A sync group: both tracks share the stream's id, which then names no track.
    let offer = PionOffer(
      sections: [.audio(sid: "TR_AM", ssrc: 10), .video(sid: "TR_VC", ssrc: 20), .data],
      streamID: { _ in "PA_alice|camera" })
    let answer = try answer(offer)
    #expect(answer.sections[0].remoteMsid == MediaStreamID(stream: "PA_alice|camera", track: "TR_AM"))
    #expect(answer.sections[1].remoteMsid == MediaStreamID(stream: "PA_alice|camera", track: "TR_VC"))
  }

  @Test mutating func candidatesInALaterOffer() throws {
    let candidate = "udp 2130706431 192.0.2.7 50000 typ host"
    let offer = try SessionDescription(
      parsing: PionOffer(
        sections: [.video(sid: "TR_VC", ssrc: 20), .data],
        candidates: [candidate, "tcp 1671430143 192.0.2.7 7881 typ host tcptype passive"]
      ).text)
    let components = offer.media.flatMap(\.candidates).map { $0.split(separator: " ")[1] }
    #expect(components == ["1", "2", "1", "2"] && offer.media[0].endOfCandidates)
  }

  @Test mutating func aRestartOfICEKeepsTheSections() throws {
    let sections: [PionOffer.Section] = [.data, .video(sid: "TR_VC", ssrc: 20)]
    let first = try answer(PionOffer(sections: sections))
    client.transport.iceUfrag = "efgh"
    let second = try answer(PionOffer(sections: sections, version: 2, ufrag: "newufrag"))
    #expect(second.sections == first.sections)
    #expect(second.description.media.allSatisfy { $0.transport.iceUfrag == "efgh" })
  }
}

/// What our own server offers in pion's place.
@Suite struct PionStyleTests {
  @Test func offersAsPionDoes() throws {
    var server = Negotiator(sessionID: 9, transport: Sample.transport)
    server.style = .pion
    let mid = server.add(
      SendingTrack(
        kind: .video, msid: MediaStreamID(stream: "PA_a|TR_1", track: "TR_1"), codecs: CodecCatalogue.vp8(),
        cname: "PA_a|TR_1", ssrc: .init(10)))
    server.addDataChannels()
    let made = server.makeOffer()
    let offer = try SessionDescription(parsing: try #require(made).description)
    #expect(offer.media.map(\.kind) == [.video, .application] && offer.media[0].direction == .sendrecv)
    #expect(offer.transport.fingerprints == [Sample.transport.fingerprint])
    #expect(offer.media.allSatisfy { $0.transport.fingerprints.isEmpty })
    var client = Negotiator(sessionID: 8, transport: Sample.transport)
    let agreed = try server.accept(client.answer(offer, capabilities: .subscriber).description)
    #expect(agreed[0].direction == .sendonly)
    server.remove(mid: mid)
    let second = server.makeOffer()
    #expect(second?.media[0].direction == .recvonly)
  }
}
