import Testing

@testable import SDP

@Suite struct ParsingTests {
  @Test func readsASubscriberOfferOfLiveKit() throws {
    let offer = try Sample.session("livekit-subscriber-offer")
    #expect(offer.bundle == ["0", "1", "2", "3"])
    #expect(offer.media.map(\.kind) == [.application, .audio, .video, .video])
    #expect(offer.media.map(\.direction) == [.sendrecv, .sendonly, .sendonly, .inactive])
    #expect(offer.media[0].isDataChannels && offer.media[0].sctpPort == 5000 && offer.media[0].maxMessageSize == 65535)
    #expect(offer.media[1].msid == MediaStreamID(stream: "PA_9hGxkVm2Qr4T|TR_AMkbXw7Yq2cLd", track: "TR_AMkbXw7Yq2cLd"))
    let pair = offer.media[2].sourceGroups.first { $0.semantics == "FID" }
    #expect(pair?.ssrcs.map(\.rawValue) == [1_190_284_736, 3_320_157_648])
    #expect(offer.media[2].sources.map(\.cname) == Array(repeating: "PA_9hGxkVm2Qr4T|TR_VCnUu3ZsPe8mBf", count: 2))
    #expect(offer.media[2].codecs[1].associatedPayloadType == .init(96))
    #expect(offer.media[2].codecs[0].feedback == ["ccm fir", "nack", "nack pli", "goog-remb"])
    #expect(offer.media[2].headerExtension(HeaderExtensionURI.absSendTime)?.id == 3)
  }

  @Test func sessionValuesFallBack() throws {
    let offer = try Sample.session("livekit-subscriber-offer")
    #expect(offer.media[1].transport.fingerprints.isEmpty)
    let transport = try #require(offer.bundleTransport)
    #expect(transport.fingerprints.first?.algorithm == "sha-256")
    #expect(transport.iceUfrag == "hKqTnWzLbRfCvYxp" && transport.setup == .actpass)
  }

  @Test func readsAPublisherOfferOfLibwebrtc() throws {
    let offer = try Sample.session("libwebrtc-publisher-offer")
    let audio = offer.media[1]
    #expect(audio.codecs.map(\.payloadType.rawValue) == [111, 63, 9, 0, 8, 13, 110, 126])
    #expect(audio.codecs[0].channels == 2 && audio.codecs[0].parameter("usedtx") == "1")
    #expect(audio.codecs[1].redundantPayloadTypes.map(\.rawValue) == [111, 111])
    #expect(audio.msid == MediaStreamID(stream: "-", track: "3f0b7a6e-audio"))
    #expect(audio.candidates.count == 2 && audio.candidates.allSatisfy { $0.hasPrefix("candidate:") })
    #expect(audio.otherAttributes == ["rtcp:9 IN IP4 0.0.0.0"])
    let video = offer.media[2]
    #expect(video.rids.map(\.id) == ["q", "h", "f"])
    #expect(video.rids[2].restrictions == "max-width=1280;max-height=720")
    #expect(video.simulcast?.send == [[.init(rid: "q")], [.init(rid: "h")], [.init(rid: "f", isPaused: true)]])
  }

  @Test func readsAnAnswerOfChrome() throws {
    let answer = try Sample.session("chrome-answer")
    #expect(answer.media[0].endOfCandidates && answer.media[0].bandwidth == [Bandwidth(type: "AS", value: 30)])
    #expect(answer.media[1].headerExtensions.first?.direction == .recvonly)
    #expect(answer.media[1].codecs.map(\.feedback) == [["nack pli", "nack"], ["nack"]])
    #expect(answer.media[2].isRejected && answer.media[2].codecs.first?.name == "PCMU")
  }

  @Test(arguments: Sample.good) func writesWhatItReads(name: String) throws {
    let session = try Sample.session(name)
    let text = session.description
    #expect(try SessionDescription(parsing: text) == session)
    #expect(try SessionDescription(parsing: text).description == text)
    // Nothing is lost: each attribute line of the sample is still there, wildcards and trailing spaces aside.
    let written = Set(text.split(whereSeparator: \.isNewline).map(String.init))
    for line in try Sample.text(name).split(whereSeparator: \.isNewline) where !line.contains("rtcp-fb:*") {
      #expect(
        written.contains(String(line).trimmingSuffix(" ")) || line == "a=sendrecv" || line.hasPrefix("a=msid-semantic"),
        "\(line)")
    }
  }

  @Test(arguments: ["\r\n", "\n", "\r"]) func takesEveryLineEnd(end: String) throws {
    let text = ["v=0", "o=- 1 2 IN IP4 0", "s=-", "t=0 0", "m=audio 9 UDP/TLS/RTP/SAVPF 0", "a=mid:x"]
    #expect(try SessionDescription(parsing: text.joined(separator: end)).media.first?.mid == "x")
  }

  @Test(arguments: [
    ("", 0, SDPError.Reason.missing("v= line")),
    ("v=0\r\n", 0, .missing("o= line")),
    ("hello", 1, .malformed("line, expected LETTER=VALUE")),
    ("o=- 1 1 IN IP4 0", 1, .missing("v= line")),
    ("v=1", 1, .malformed("version, expected v=0")),
    ("v=0\r\no=- x 1 IN IP4 0", 2, .malformed("o= line")),
    ("v=0\r\nm=audio 9 RTP/AVP 0", 2, .missing("o= line")),
    (head + "m=audio x RTP/AVP 0", 3, .malformed("m= line")),
    (head + "m=audio 9 UDP/TLS/RTP/SAVPF 128", 3, .malformed("payload type")),
    (head + "m=audio 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 opus", 4, .malformed("rtpmap")),
    (head + "m=audio 9 UDP/TLS/RTP/SAVPF 96\r\na=extmap:0 urn:x", 4, .malformed("extmap")),
    (head + "m=audio 9 UDP/TLS/RTP/SAVPF 96\r\na=ssrc:-1 cname:x", 4, .malformed("ssrc")),
    (head + "a=setup:both", 3, .malformed("setup")),
    (head + "a=fingerprint:sha-256 xyz", 3, .malformed("fingerprint")),
  ]) func saysWhatIsWrongAndWhere(text: String, line: Int, reason: SDPError.Reason) {
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text) }
    #expect(error?.line == line && error?.reason == reason)
  }

  static let head = "v=0\r\no=- 1 1 IN IP4 0\r\n"

  @Test func boundsItsWork() {
    var limits = SessionDescription.Limits()
    let section = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n"
    expectTooLarge(String(repeating: "v", count: limits.bytes + 1), limits)
    expectTooLarge(Self.head + String(repeating: "a=x\r\n", count: limits.repeats + 1), limits)
    expectTooLarge(Self.head + section + String(repeating: "a=candidate:1\r\n", count: limits.repeats + 1), limits)
    let sources = (0...limits.repeats).map { "a=ssrc:\($0) cname:x\r\n" }.joined()
    expectTooLarge(Self.head + section + sources, limits)
    limits.mediaSections = 3
    expectTooLarge(Self.head + String(repeating: section, count: 4), limits)
    limits.lines = 4
    expectTooLarge(Self.head + String(repeating: "\r\n", count: 4), limits)
  }

  private func expectTooLarge(_ text: String, _ limits: SessionDescription.Limits) {
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text, limits: limits) }
    guard case .tooLarge = error?.reason else {
      Issue.record("\(String(describing: error)) is not about size")
      return
    }
  }

  @Test func aValueCannotStartALine() throws {
    var session = SessionDescription(origin: Sample.origin)
    session.name = "room\r\na=ice-lite"
    var section = MediaSection(kind: .audio)
    section.mid = "0\na=inactive"
    section.msids = [MediaStreamID(stream: "s\r\nm=video 9 RTP/AVP 0", track: "t\u{0}")]
    session.media = [section]
    let parsed = try SessionDescription(parsing: session.description)
    #expect(!parsed.iceLite && parsed.media.count == 1 && parsed.media[0].direction == .sendrecv)
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    var text = self
    while text.hasSuffix(suffix) { text.removeLast(suffix.count) }
    return text
  }
}
