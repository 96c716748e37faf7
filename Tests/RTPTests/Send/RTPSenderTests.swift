import MediaCore
import Testing

@testable import RTP

@Suite("RTPSender")
struct RTPSenderTests {
  private func sender(length: Int = 64, rtx: Bool = true, repeats: RTPSender.Repeats = .prompt) -> RTPSender {
    RTPSender(
      configuration: .init(
        ssrc: SSRC(0x1111), clockRate: 90_000,
        retransmission: rtx ? .init(ssrc: SSRC(0x2222), payloadTypes: [PayloadType(96): PayloadType(97)]) : nil,
        repeats: repeats, cname: "me", historyLength: length))
  }
  private func nack(_ lost: [Int], media: UInt32 = 0x1111) -> RTCPPacket {
    .nack(
      NegativeAcknowledgement(
        sender: SSRC(1), media: SSRC(media), lost: lost.map { SequenceNumber(UInt16(truncatingIfNeeded: $0)) }))
  }

  @Test func answersWithWrappedCopies() throws {
    var sender = sender()
    for number in 65530..<65540 { sender.sent(.media(number), at: .ms(0)) }
    let packets = Array(sender.receive(nack([65535, 65536, 999]), at: .ms(50)).retransmissions)
    #expect(packets.map(\.sequenceNumber.rawValue) == [1, 2])
    #expect(packets.allSatisfy { $0.ssrc == SSRC(0x2222) && $0.payloadType == PayloadType(97) })
    let first = try #require(packets.first?.unwrappingRetransmission(ssrc: SSRC(0x1111), payloadType: PayloadType(96)))
    #expect(first.sequenceNumber == SequenceNumber(65535) && first.text == "packet 65535")
    #expect(sender.receive(nack([65535], media: 5), at: .ms(60)).retransmissions.isEmpty)
    #expect(sender.statistics.packetsRetransmitted == 2)
  }

  @Test func withoutRepairStreamThePacketItselfIsRepeated() {
    var sender = sender(rtx: false)
    sender.sent(.media(5), at: .ms(0))
    #expect(sender.receive(nack([5]), at: .ms(50)).retransmissions.first?.sequenceNumber == SequenceNumber(5))
  }

  @Test func historyIsBoundedByCountAgeAndPatience() {
    var sender = sender(length: 10)
    for number in 0..<20 { sender.sent(.media(number), at: .ms(0)) }
    #expect(sender.receive(nack([3]), at: .ms(1)).retransmissions.isEmpty, "only 16 are kept")
    #expect(sender.receive(nack([4]), at: .ms(1)).retransmissions.count == 1)
    #expect(sender.receive(nack([4]), at: .ms(2)).retransmissions.isEmpty, "one is on its way")
    #expect(sender.receive(nack([4]), at: .ms(50)).retransmissions.count == 1)
    #expect(sender.receive(nack([5]), at: .ms(2001)).retransmissions.isEmpty, "too old")
  }

  /// Of a large frame all packets are made at once, and wait for their turn.
  @Test func whatMayBeAskedForIsNotGivenUpForWhatIsNewer() {
    for (length, isKept) in [(4096, true), (512, false)] {
      var sender = sender(length: length)
      for number in 64_000..<67_000 { sender.sent(.media(number), at: .ms(0)) }
      let again = sender.receive(nack([64_000, 65_536, 66_999]), at: .ms(400)).retransmissions
      #expect(again.count == (isKept ? 3 : 1))
    }
  }

  @Test func aLongHistoryStillHasAnEnd() {
    var sender = sender(length: 1024)
    for number in 0..<3000 { sender.sent(.media(number), at: .ms(0)) }
    #expect(sender.receive(nack([1975]), at: .ms(1)).retransmissions.isEmpty)
    #expect(sender.receive(nack([1976, 2999]), at: .ms(1)).retransmissions.count == 2)
  }

  /// As LiveKit's server does before a round trip is measured.
  @Test func aSparingSenderRepeatsSeldomAndThreeTimes() {
    var sender = sender(repeats: .sparing)
    sender.sent(.media(4), at: .ms(0))
    let moments: [Double] = [20, 99, 100, 150, 199, 201, 300, 301, 500, 900]
    let answered = moments.filter { !sender.receive(nack([4]), at: .ms($0)).retransmissions.isEmpty }
    #expect(answered == [100, 201, 301])
  }

  @Test func keyframeRequestsForThisStream() {
    var sender = sender()
    #expect(
      sender.receive(.pictureLossIndication(sender: SSRC(1), media: SSRC(0x1111)), at: .ms(0)).isKeyframeRequested)
    #expect(!sender.receive(.pictureLossIndication(sender: SSRC(1), media: SSRC(9)), at: .ms(0)).isKeyframeRequested)
    let command = RTCPPacket.fullIntraRequest(sender: SSRC(1), media: SSRC(0x1111), command: 3)
    #expect(sender.receive(command, at: .ms(0)).isKeyframeRequested)
    #expect(!sender.receive(command, at: .ms(5)).isKeyframeRequested, "a repeated command is the same command")
    #expect(sender.statistics.keyframeRequests == 2)
  }

  @Test func reportsCountAndExtrapolate() {
    var sender = sender()
    #expect(sender.poll(at: .ms(0), ntp: NTPTime(rawValue: 1)).isEmpty)
    sender.sent(.media(1, timestamp: .max - 44_999, payload: [1, 2, 3]), at: .ms(1000), captured: .ms(900))
    let ntp = NTPTime(unixNanoseconds: 1_000_000_000)
    let packets = sender.poll(at: .ms(1900), ntp: ntp)
    #expect(
      packets == [
        .senderReport(SenderReport(ssrc: SSRC(0x1111), ntp: ntp, rtpTimestamp: 45_000, packetCount: 1, octetCount: 3)),
        .sourceDescription(ssrc: SSRC(0x1111), cname: "me"),
      ])
    #expect(sender.poll(at: .ms(2899), ntp: ntp).isEmpty)
    #expect(sender.nextDeadline == .ms(2900))
  }

  @Test func forwardedStreamKeepsItsOriginsClock() {
    var sender = sender()
    sender.sent(.media(1), at: .ms(0))
    let origin = NTPTime(unixNanoseconds: 5_000_000_000)
    sender.synchronise(ntp: origin, rtpTimestamp: 1000, at: .ms(10))
    sender.sent(.media(2), at: .ms(20))
    let report = sender.makeReport(at: .ms(1010), ntp: NTPTime(rawValue: 0))
    #expect(report?.ntp == origin.advanced(by: .seconds(1)) && report?.rtpTimestamp == 91_000)
  }

  @Test func roundTripComesFromReportsThatAreQuoted() {
    var sender = sender()
    sender.sent(.media(1), at: .ms(0))
    guard case .senderReport(let report)? = sender.poll(at: .ms(0), ntp: NTPTime(rawValue: 0x1_2345_6789_abcd)).first
    else {
      return #expect(Bool(false), "no report")
    }
    func block(_ last: UInt32) -> RTCPPacket {
      let block = ReportBlock(
        ssrc: SSRC(0x1111), fractionLost: 64, cumulativeLost: 7, highestSequence: 1, jitter: 900,
        lastSenderReport: last,
        delaySinceLastSenderReport: 32768)
      return .receiverReport(ReceiverReport(ssrc: SSRC(1), blocks: [block]))
    }
    _ = sender.receive(block(12345), at: .ms(600))
    #expect(sender.statistics.roundTripTime == nil)
    _ = sender.receive(block(report.ntp.middle), at: .ms(580))
    #expect(sender.statistics.roundTripTime == .milliseconds(80))
    #expect(sender.statistics.fractionLost == 0.25 && sender.statistics.packetsLost == 7)
    #expect(sender.statistics.remoteJitter == 0.01)
  }
}
