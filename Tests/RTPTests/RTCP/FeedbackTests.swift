import MediaCore
import Testing

@testable import RTP

@Suite("Feedback messages (RFC 4585, RFC 5104, REMB)")
struct FeedbackTests {
  private func nack(_ lost: [UInt16]) -> RTCPPacket {
    .nack(NegativeAcknowledgement(sender: SSRC(1), media: SSRC(2), lost: lost.map { SequenceNumber($0) }))
  }

  @Test func nackIsWrittenAsSpecified() {
    let expected = hex("81 cd 00 04 00 00 00 01 00 00 00 02 ff fe 80 03 00 0f 00 00")
    #expect(RTCPPacket.serialize([nack([65534, 65535, 0, 14, 15])]) == expected)
    #expect(parseRTCP(expected) == [nack([65534, 65535, 0, 14, 15])])
  }

  @Test func nackKeepsAnyAscendingList() {
    var random = SeededRandom(seed: 7)
    for _ in 0..<200 {
      let start = UInt16.random(in: 0...(.max), using: &random)
      let steps = (0..<Int.random(in: 1...100, using: &random)).map { _ in UInt16.random(in: 1...40, using: &random) }
      var lost = [start]
      for step in steps { lost.append(lost[lost.count - 1] &+ step) }
      #expect(roundTrip([nack(lost)]) == [nack(lost)])
    }
  }

  @Test func nackOfManyEntriesIsBounded() {
    let entries = [[UInt8]](repeating: [0, 1, 0xff, 0xff], count: 10_000).flatMap { $0 }
    let words = UInt16(entries.count / 4 + 2)
    let bytes = [0x81, 0xcd, UInt8(words >> 8), UInt8(words & 255)] + hex("00 00 00 01 00 00 00 02") + entries
    guard case .nack(let nack)? = parseRTCP(bytes).first else { return #expect(Bool(false), "no nack") }
    #expect(nack.lost.count <= NegativeAcknowledgement.limit)
  }

  @Test func keyframeRequests() {
    let packets: [RTCPPacket] = [
      .pictureLossIndication(sender: SSRC(1), media: SSRC(2)),
      .fullIntraRequest(sender: SSRC(1), media: SSRC(2), command: 200),
    ]
    #expect(
      RTCPPacket.serialize(packets)
        == hex(
          "81 ce 00 02 00 00 00 01 00 00 00 02  84 ce 00 04 00 00 00 01 00 00 00 00 00 00 00 02 c8 00 00 00"))
    #expect(roundTrip(packets) == packets)
  }

  @Test(arguments: [
    (UInt64(0), UInt64(0)), (262_143, 262_143), (262_144, 262_144), (1_000_001, 1_000_000), (.max, 0x3_ffff << 46),
  ])
  func receiverEstimateKeepsEighteenBits(bitrate: UInt64, read: UInt64) {
    let sources = [SSRC(2), SSRC(3)]
    #expect(
      roundTrip([.receiverEstimate(REMB(sender: SSRC(1), bitrate: bitrate, sources: sources))])
        == [.receiverEstimate(REMB(sender: SSRC(1), bitrate: read, sources: sources))])
  }

  @Test func otherApplicationFeedbackAndHugeExponentsAreNotEstimates() {
    #expect(parseRTCP(hex("8f ce 00 04 00 00 00 01 00 00 00 00 41 42 43 44 01 00 00 01")).isEmpty)
    #expect(parseRTCP(hex("8f ce 00 04 00 00 00 01 00 00 00 00 52 45 4d 42 00 ff ff ff")).isEmpty)
  }

  @Test func compoundGoesOnAfterTheUnknownAndEndsAtNonsense() {
    let known = RTCPPacket.pictureLossIndication(sender: SSRC(1), media: SSRC(2))
    let bytes = RTCPPacket.serialize([known])
    let unknown = hex("80 cf 00 01 00 00 00 01")
    #expect(parseRTCP(unknown + bytes) == [known])
    #expect(parseRTCP(bytes + hex("80 c9 ff ff 00")) == [known])
    #expect(parseRTCP(bytes + hex("00 c9 00 01 00 00 00 01") + bytes) == [known])
    #expect(parseRTCP([]).isEmpty && parseRTCP([0x80]).isEmpty)
  }

  @Test func paddingIsNotContent() {
    #expect(parseRTCP(hex("a1 cd 00 04 00 00 00 01 00 00 00 02 00 05 00 00 00 00 00 04")) == [nack([5])])
    #expect(parseRTCP(hex("a1 cd 00 03 00 00 00 01 00 00 00 02 00 05 00 ff")).isEmpty)
  }
}
