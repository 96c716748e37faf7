import MediaCore
import RTP
import Testing

@testable import MediaBridge

@Suite("RTP of a layer")
struct OutgoingRTPTests {
  private let format = OutgoingRTP.Format(payloadType: PayloadType(96), clockRate: 90_000, rtx: PayloadType(97))

  private func answers(isVideo: Bool, packets: Int) -> Int {
    let ssrc = SSRC(1)
    var sender = RTPSender(configuration: format.configuration(of: ssrc, rtxSSRC: SSRC(2), isVideo: isVideo))
    for number in 0..<packets {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(number)), timestamp: 0, ssrc: ssrc,
        payload: [1])
      sender.sent(packet, at: MediaTime(nanoseconds: 0))
    }
    let nack = NegativeAcknowledgement(sender: SSRC(9), media: ssrc, lost: [SequenceNumber(0)])
    return sender.answer(nack, at: MediaTime(nanoseconds: 400_000_000)).count
  }

  /// Of one that is a megabyte each packet can be had again.
  @Test func aKeyframeOfAnySizeCanBeMended() {
    #expect(answers(isVideo: true, packets: 1000) == 1)
    #expect(answers(isVideo: true, packets: 4000) == 1)
    #expect(answers(isVideo: false, packets: 1000) == 0)
  }

  @Test func whatWasAgreedIsUsed() {
    let configuration = format.configuration(of: SSRC(1), rtxSSRC: SSRC(2), isVideo: true)
    #expect(configuration.ssrc == SSRC(1) && configuration.clockRate == 90_000)
    #expect(configuration.retransmission?.ssrc == SSRC(2))
    #expect(configuration.retransmission?.payloadTypes == [PayloadType(96): PayloadType(97)])
  }
}
