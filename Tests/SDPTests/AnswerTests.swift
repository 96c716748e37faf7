import Testing

@testable import SDP

@Suite struct AnswerTests {
  private func answer(
    _ offer: SessionDescription, _ capabilities: MediaCapabilities = .subscriber,
    decide: (MediaSection) -> Answer.Decision = { _ in .accept(.recvonly) }
  ) -> Answer {
    Answer(to: offer, origin: Sample.origin, capabilities: capabilities, transport: Sample.transport, decide: decide)
  }

  @Test func aSubscriberAnswersLiveKit() throws {
    let answer = answer(try Sample.session("livekit-subscriber-offer"))
    let description = answer.description
    #expect(description.bundle == ["0", "1", "2", "3"])
    #expect(description.media.map(\.mid) == ["0", "1", "2", "3"])
    #expect(description.media.map(\.port) == [9, 9, 9, 9])
    #expect(description.media.map(\.direction) == [.sendrecv, .recvonly, .recvonly, .inactive])
    #expect(description.media.allSatisfy { $0.transport.setup == .active && $0.transport.iceUfrag == "abcd" })
    #expect(description.media.allSatisfy { $0.transport.fingerprints.map(\.description) == ["sha-256 AA:BB"] })
    #expect(description.media[0].proto == "UDP/DTLS/SCTP" && description.media[0].formats == ["webrtc-datachannel"])
    #expect(description.media[0].sctpPort == 5000)
    #expect(answer.sections[1].formats.map(\.codec.name) == ["red", "opus"])
    #expect(answer.sections[2].formats.map(\.rtx) == [.init(97)])
    #expect(answer.sections[2].format(.init(97))?.codec.name == "VP8")
    #expect(answer.sections[2].remoteMsid?.track == "TR_VCnUu3ZsPe8mBf")
    #expect(answer.sections[2].extensionID(HeaderExtensionURI.absSendTime) == 3)
    #expect(answer.sections[2].extensionID(HeaderExtensionURI.playoutDelay) == nil)
    #expect(description.media[2].codecs[0].feedback == ["ccm fir", "nack", "nack pli", "goog-remb"])
  }

  /// Whoever is not asked for the orientation sends frames that are turned already.
  @Test func whoTurnsFramesAsksForTheOrientation() throws {
    let offer = try Sample.session("libwebrtc-publisher-offer")
    let offered = offer.media[2].headerExtension(HeaderExtensionURI.videoOrientation)?.id
    for capabilities in [MediaCapabilities.server(takesOrientation: true), .subscriber] {
      let answered = answer(offer, capabilities).sections[2].extensionID(HeaderExtensionURI.videoOrientation)
      #expect(answered != nil && answered.map(UInt16.init) == offered)
    }
  }

  @Test func aServerAnswersSimulcast() throws {
    let answer = answer(try Sample.session("libwebrtc-publisher-offer"), .server())
    let video = answer.description.media[2]
    #expect(video.codecs.map(\.payloadType.rawValue) == [96, 97, 98, 99, 102, 103, 104, 105, 45, 46])
    #expect(video.rids.map(\.id) == ["q", "h", "f"] && video.rids.allSatisfy { $0.direction == .recv })
    #expect(video.simulcast?.text == "recv q;h;f")
    #expect(video.headerExtension(HeaderExtensionURI.rtpStreamID)?.id == 10)
    #expect(answer.sections[2].remoteRids == ["q", "h", "f"])
    #expect(answer.description.media[1].codecs.map(\.name) == ["opus", "red"])
    #expect(answer.description.extmapAllowMixed)
    #expect(video.headerExtension(HeaderExtensionURI.videoOrientation) == nil)
    let text = answer.description.description
    #expect(text.contains("a=rid:q recv\r\n") && text.contains("a=simulcast:recv q;h;f\r\n"))
  }

  @Test func aSubscriberDoesNotAnswerSimulcast() throws {
    let video = answer(try Sample.session("libwebrtc-publisher-offer")).description.media[2]
    #expect(video.rids.isEmpty && video.simulcast == nil)
  }

  @Test func refusedSectionsKeepTheirPlace() throws {
    let answer = answer(try Sample.session("libwebrtc-publisher-offer")) {
      $0.kind == .audio ? .reject : .accept(.inactive)
    }
    #expect(answer.description.media.map(\.port) == [9, 0, 9])
    #expect(answer.description.bundle == ["0", "2"])
    #expect(answer.sections.map(\.isAccepted) == [true, false, true])
    #expect(answer.description.media[2].direction == .inactive)
    #expect(answer.description.description.contains("m=audio 0 UDP/TLS/RTP/SAVPF 111\r\n"))
  }

  @Test func refusesWhatItCannotCarry() throws {
    let text = """
      v=0
      o=- 1 1 IN IP4 0
      a=group:BUNDLE a b c d e
      m=video 9 UDP/TLS/RTP/SAVPF 45
      a=mid:a
      a=rtcp-mux
      a=rtpmap:45 H265/90000
      m=video 9 UDP/TLS/RTP/SAVPF 96
      a=mid:b
      a=rtpmap:96 VP8/90000
      m=audio 9 UDP/TLS/RTP/SAVPF 111
      a=mid:outside
      a=rtcp-mux
      a=rtpmap:111 opus/48000/2
      m=audio 9 UDP/TLS/RTP/SAVPF 63 111
      a=mid:d
      a=rtcp-mux
      a=rtpmap:63 red/48000/2
      a=fmtp:63 0/0
      a=rtpmap:111 OPUS/48000/2
      m=audio 0 UDP/TLS/RTP/SAVPF 111
      a=mid:e
      a=bundle-only
      a=rtcp-mux
      a=rtpmap:111 opus/48000/2
      m=text 9 UDP/TLS/RTP/SAVPF 98
      a=mid:c
      m=audio 9 UDP/TLS/RTP/SAVPF 111
      a=mid:d
      a=rtcp-mux
      a=rtpmap:111 opus/48000/2
      """
    let answer = answer(try SessionDescription(parsing: text))
    // No common format, no rtcp-mux, not bundled, fine (RED of something else dropped), fine, unknown kind, mid used
    // twice.
    #expect(answer.sections.map(\.isAccepted) == [false, false, false, true, true, false, false])
    #expect(answer.sections[3].formats.map(\.payloadType.rawValue) == [111])
    #expect(answer.description.bundle == ["d", "e"])
  }

  /// Its timestamps are those of what is inside.
  @Test(arguments: [("48000", ["red", "opus"]), ("8000", ["opus"]), ("4294967295", ["opus"])])
  func redHasTheClockOfWhatIsInside(rate: String, names: [String]) throws {
    let text = """
      v=0
      o=- 1 1 IN IP4 0
      a=group:BUNDLE a
      m=audio 9 UDP/TLS/RTP/SAVPF 63 111
      a=mid:a
      a=rtcp-mux
      a=rtpmap:63 red/\(rate)/2
      a=fmtp:63 111/111
      a=rtpmap:111 opus/48000/2
      """
    let answer = answer(try SessionDescription(parsing: text), .server())
    #expect(answer.sections.first?.formats.map(\.codec.name) == names)
  }

  @Test(arguments: [
    (Setup.actpass, Setup.active, Setup.active), (.active, .active, .passive), (.passive, .passive, .active),
    (.actpass, .passive, .passive),
  ]) func choosesTheDTLSRole(offered: Setup, preferred: Setup, expected: Setup) {
    var transport = Sample.transport
    transport.preferredSetup = preferred
    #expect(transport.setup(answering: offered) == expected)
  }

  @Test(arguments: Direction.allCases, Direction.allCases) func directionNeverExceedsTheOffer(
    offered: Direction, wanted: Direction
  ) throws {
    var offer = try Sample.session("libwebrtc-publisher-offer")
    offer.media[1].direction = offered
    let answered = answer(offer) { _ in .accept(wanted) }.sections[1].direction
    #expect(answered.receives == (offered.sends && wanted.receives))
    #expect(answered.sends == (offered.receives && wanted.sends))
  }
}
