import MediaCore
import RTP
import SDP
import Testing

@testable import MediaBridge

/// What statistics say of a stream of which packets are lost, and repaired or not: what its sender was told, and what
/// came.
@Suite struct LossyStatisticsTests {
  private let rtx = PayloadType(97)

  private func packet(_ number: UInt16, rtx: Bool = false) -> RTPPacket {
    let isKeyframe = number == 1
    let media: [UInt8] = [0x10, isKeyframe ? 0 : 1, 2, 3]
    return RTPPacket(
      payloadType: rtx ? self.rtx : PayloadType(96), sequenceNumber: SequenceNumber(rtx ? 500 : number),
      timestamp: UInt32(number) * 3600, ssrc: SSRC(rtx ? 11 : 10), marker: true,
      payload: rtx ? [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] + media : media)
  }

  @Test func countsAreThoseOfWhatWasSentAndReceived() throws {
    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/VP8"]]))
    var configuration = RTPReceiver.Configuration(track)
    configuration.usesNACK = true
    let reception = TrackReception(
      track, clock: ParticipantClock(), configuration: configuration, onOtherCodec: { _ in }, onStream: { _ in })
    var sent: [RTCPPacket] = []
    var time = MediaTime(nanoseconds: 5_000_000_000)
    for number in UInt16(1)...100 {
      // Every other one is 7 ms late.
      let arrival = time + .milliseconds(number % 2 == 0 ? 7 : 0)
      // The third comes again, the fiftieth never.
      if number != 3 && number != 50 { reception.receive(packet(number), at: arrival) }
      if number == 6 { reception.receive(packet(3, rtx: true), at: arrival) }
      for _ in 0..<4 {
        time = time + .milliseconds(10)
        sent += reception.poll(at: time)
      }
    }
    let requests = sent.filter { if case .nack = $0 { true } else { false } }.count
    let keyframes = sent.filter { if case .pictureLossIndication = $0 { true } else { false } }.count
    #expect(requests > 1 && keyframes > 0)
    var meter = InboundMeter(trackSid: "TR_VC", isVideo: true)
    let inbound = meter.report(
      .init(
        time: time, timestamp: 0, reception: reception.statistics, decoder: reception.meter.figures, roundTrip: nil))
    #expect(inbound.nackCount == UInt(requests) && inbound.pliCount == UInt(keyframes))
    #expect(inbound.packetsReceived == 99 && inbound.packetsLost == 2)
    #expect(inbound.retransmittedPacketsReceived == 1 && inbound.retransmittedBytesReceived == 6)
    #expect(inbound.framesReceived == 99 && inbound.bytesReceived == 99 * 4)
    // Arrivals differ by 7 ms from one packet to the next (RFC 3550, A.8).
    #expect(inbound.jitter.map { (0.005...0.008).contains($0) } == true, "\(inbound.jitter ?? -1)")
    #expect(inbound.ssrc == 10 && inbound.rtxSsrc == 11)
  }
}
