import MediaCore
import Testing

@testable import RTP

@Suite("Sender and receiver reports (RFC 3550, 6.4)")
struct ReportTests {
  private func block(_ ssrc: UInt32, lost: Int = 1) -> ReportBlock {
    ReportBlock(
      ssrc: SSRC(ssrc), fractionLost: 128, cumulativeLost: lost, highestSequence: 0x1_0003, jitter: 9,
      lastSenderReport: 0xaabb_ccdd, delaySinceLastSenderReport: 65536)
  }

  @Test func senderReportIsWrittenAsSpecified() {
    let report = SenderReport(
      ssrc: SSRC(1), ntp: NTPTime(rawValue: 0x0102_0304_0506_0708), rtpTimestamp: 9, packetCount: 10, octetCount: 11,
      blocks: [block(2, lost: -2)])
    let expected = hex(
      """
      81 c8 00 0c 00 00 00 01 01 02 03 04 05 06 07 08 00 00 00 09 00 00 00 0a 00 00 00 0b
      00 00 00 02 80 ff ff fe 00 01 00 03 00 00 00 09 aa bb cc dd 00 01 00 00
      """)
    #expect(RTCPPacket.serialize([.senderReport(report)]) == expected)
    #expect(parseRTCP(expected) == [.senderReport(report)])
  }

  @Test func receiverReportRoundTripsAtItsLimits() {
    let blocks = (0..<40).map { block($0, lost: $0 == 0 ? 9_000_000 : $0 == 1 ? -9_000_000 : Int($0)) }
    let read = roundTrip([.receiverReport(ReceiverReport(ssrc: SSRC(5), blocks: blocks))])
    guard case .receiverReport(let report)? = read.first else { return #expect(Bool(false), "no report") }
    #expect(report.blocks.count == 31)
    #expect(report.blocks[0].cumulativeLost == 0x7f_ffff)
    #expect(report.blocks[1].cumulativeLost == -0x80_0000)
    #expect(report.blocks[30] == blocks[30])
  }

  @Test func fewerBlocksThanClaimedAreRead() {
    #expect(parseRTCP(hex("9f c9 00 01 00 00 00 05")) == [.receiverReport(ReceiverReport(ssrc: SSRC(5), blocks: []))])
    #expect(parseRTCP(hex("80 c8 00 01 00 00 00 05")).isEmpty)
    #expect(parseRTCP(hex("80 c9 00 00")).isEmpty)
  }
}
