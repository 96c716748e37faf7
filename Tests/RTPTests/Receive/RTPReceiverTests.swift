import MediaCore
import Testing

@testable import RTP

@Suite("RTPReceiver")
struct RTPReceiverTests {
  private static let formats: [PayloadType: RTPReceiver.Format] = [
    PayloadType(96): .video(.vp8), PayloadType(97): .retransmission(of: PayloadType(96)),
  ]
  private static let keyframe: [UInt8] = [0x10, 0x00, 1, 2]
  private static let delta: [UInt8] = [0x10, 0x01, 1, 2]

  private func receiver(_ formats: [PayloadType: RTPReceiver.Format] = Self.formats) -> RTPReceiver {
    RTPReceiver(
      configuration: .init(
        ssrc: SSRC(0x1111), rtxSSRC: SSRC(0x2222), clockRate: 90_000, formats: formats, usesNACK: true))
  }

  private func retransmission(_ packet: RTPPacket, number: UInt16 = 1, ssrc: UInt32 = 0x2222) -> RTPPacket {
    var wrapped = packet.copy(prefixingPayload: packet.sequenceNumber.rawValue)
    wrapped.rewrite(payloadType: PayloadType(97), sequenceNumber: SequenceNumber(number), ssrc: SSRC(ssrc))
    return wrapped
  }

  private func nacks(_ packets: [RTCPPacket]) -> [UInt16] {
    packets.flatMap { if case .nack(let nack) = $0 { nack.lost.map(\.rawValue) } else { [UInt16]() } }
  }
  private func requestsKeyframe(_ packets: [RTCPPacket]) -> Bool {
    packets.contains(.pictureLossIndication(sender: SSRC(1), media: SSRC(0x1111)))
  }

  @Test func missingPacketIsAskedForAndTakenFromTheRetransmission() {
    var receiver = receiver()
    for number in [1, 2, 4, 5] {
      #expect(receiver.receive(.media(number, payload: Self.keyframe), at: .ms(Double(number))).count == 1)
    }
    #expect(receiver.isUrgent(at: .ms(5)))
    #expect(nacks(receiver.poll(at: .ms(5))) == [3])
    let repeated = retransmission(.media(3, payload: Self.delta))
    let batch = receiver.receive(repeated, at: .ms(30))
    #expect(batch.first?.sequenceNumber == SequenceNumber(3))
    #expect(batch.first?.ssrc == SSRC(0x1111) && batch.first?.payloadType == PayloadType(96))
    #expect(batch.first?.payload == Self.delta)
    #expect(receiver.receive(.media(3, payload: Self.delta), at: .ms(31)).isEmpty)
    #expect(nacks(receiver.poll(at: .ms(500))).isEmpty)
    let statistics = receiver.statistics
    #expect(statistics.packetsReceived == 5 && statistics.packetsLost == 1 && statistics.packetsRecovered == 1)
    #expect(statistics.packetsDuplicated == 1 && statistics.retransmissionsReceived == 1)
    #expect(statistics.nackRequests == 1 && statistics.nackedPackets == 1)
  }

  @Test func whatWasLostBeforeTheNumbersBeganAnewIsStillLost() {
    var receiver = receiver()
    for number in [1, 5, 20_000, 20_001, 20_003] {
      _ = receiver.receive(.media(number, payload: Self.keyframe), at: .ms(Double(number)))
    }
    #expect(receiver.discontinuities == 1 && receiver.statistics.packetsLost == 4)
  }

  @Test func strangersAndProbesGiveNothing() {
    var receiver = receiver()
    _ = receiver.receive(.media(1, payload: Self.keyframe), at: .ms(0))
    #expect(receiver.receive(.media(2, ssrc: 9), at: .ms(1)).isEmpty)
    #expect(receiver.receive(.media(2, type: 50), at: .ms(1)).isEmpty)
    #expect(receiver.receive(retransmission(.media(2), ssrc: 9), at: .ms(1)).isEmpty)
    #expect(receiver.receive(.media(7, type: 97, ssrc: 0x2222, payload: []), at: .ms(1)).isEmpty)
    #expect(receiver.receive(.media(7, type: 97, ssrc: 0x2222, payload: [1]), at: .ms(1)).isEmpty)
    #expect(receiver.statistics.packetsDiscarded == 4)
    #expect(receiver.statistics.packetsLost == 0)
  }

  @Test func streamAndItsRepairAreLearnt() {
    var receiver = RTPReceiver(configuration: .init(clockRate: 90_000, formats: Self.formats, usesNACK: true))
    #expect(receiver.receive(retransmission(.media(1)), at: .ms(0)).isEmpty)
    _ = receiver.receive(.media(1, ssrc: 77, payload: Self.keyframe), at: .ms(0))
    #expect(receiver.ssrc == SSRC(77))
    #expect(receiver.receive(retransmission(.media(2)), at: .ms(0)).first?.ssrc == SSRC(77))
    #expect(receiver.rtxSSRC == SSRC(0x2222))
  }

  @Test func paddingKeepsItsNumber() {
    var receiver = receiver()
    _ = receiver.receive(.media(1, payload: Self.keyframe), at: .ms(0))
    let padding = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(2), timestamp: 1, ssrc: SSRC(0x1111), payload: [],
      padding: 200)
    #expect(receiver.receive(padding, at: .ms(1)).first?.isPaddingOnly == true)
    _ = receiver.receive(.media(3, payload: Self.delta), at: .ms(3))
    #expect(nacks(receiver.poll(at: .ms(100))).isEmpty)
    #expect(receiver.statistics.packetsLost == 0 && receiver.statistics.paddingPackets == 1)
  }

  @Test func keyframeIsAskedForUntilItBegins() {
    var receiver = receiver()
    _ = receiver.receive(.media(1, payload: Self.delta), at: .ms(0))
    #expect(!requestsKeyframe(receiver.poll(at: .ms(10))))
    #expect(requestsKeyframe(receiver.poll(at: .ms(50))))
    #expect(!requestsKeyframe(receiver.poll(at: .ms(400))))
    #expect(requestsKeyframe(receiver.poll(at: .ms(650))))
    _ = receiver.receive(.media(2, payload: Self.keyframe), at: .ms(660))
    #expect(!requestsKeyframe(receiver.poll(at: .ms(5000))))
    receiver.requestKeyframe()
    #expect(requestsKeyframe(receiver.poll(at: .ms(5001))))
  }

  /// Some senders repeat them, without one.
  @Test func parameterSetsAloneAreNoKeyframe() {
    var receiver = receiver([PayloadType(96): .video(.h264)])
    _ = receiver.receive(.media(1, payload: [0x67, 0x42]), at: .ms(0))
    _ = receiver.receive(.media(2, payload: [0x41, 0x9a]), at: .ms(1))
    #expect(requestsKeyframe(receiver.poll(at: .ms(60))))
    _ = receiver.receive(.media(3, payload: [0x67, 0x42]), at: .ms(70))
    _ = receiver.receive(.media(4, payload: [0x65, 0x88]), at: .ms(71))
    #expect(!requestsKeyframe(receiver.poll(at: .ms(5000))))
    #expect(receiver.statistics.keyframesReceived == 1)
  }

  @Test func whatCannotBeRepairedNeedsAKeyframe() {
    var receiver = receiver()
    _ = receiver.receive(.media(1, payload: Self.keyframe), at: .ms(0))
    _ = receiver.receive(.media(1000, payload: Self.delta), at: .ms(1))
    #expect(requestsKeyframe(receiver.poll(at: .ms(1))))
    _ = receiver.receive(.media(1001, payload: Self.keyframe), at: .ms(2))
    _ = receiver.receive(.media(1005, payload: Self.delta), at: .ms(3))
    var packets: [RTCPPacket] = []
    for time in stride(from: 4.0, to: 1100, by: 5) { packets += receiver.poll(at: .ms(time)) }
    #expect(Set(nacks(packets)) == [1002, 1003, 1004])
    #expect(requestsKeyframe(packets))
  }

  @Test func ofAStreamThatIsPausedNoKeyframeIsAskedFor() {
    var receiver = receiver()
    _ = receiver.receive(.media(1, payload: Self.delta), at: .ms(0))
    #expect(requestsKeyframe(receiver.poll(at: .ms(50))))
    receiver.isPaused = true
    receiver.requestKeyframe()
    #expect(!requestsKeyframe(receiver.poll(at: .ms(700))) && receiver.nextDeadline.map { $0 > .ms(700) } ?? true)
    receiver.isPaused = false
    #expect(receiver.nextDeadline.map { $0 <= .ms(700) } ?? false)
    #expect(requestsKeyframe(receiver.poll(at: .ms(701))))
  }

  @Test func reportSaysLossJitterAndDelay() {
    var receiver = RTPReceiver(configuration: .init(ssrc: SSRC(0x1111), clockRate: 1000))
    // 100 packets 10 ms apart from number 65500 on, each fourth lost, each second of the rest 4 ms late.
    for index in 0..<100 where index % 4 != 3 {
      let late = index % 4 == 1 ? 4.0 : 0
      _ = receiver.receive(
        .media(65500 + index, timestamp: UInt32(index * 10)), at: .ms(Double(index * 10) + late))
    }
    let ntp = NTPTime(rawValue: 0x0001_0002_0003_0004)
    receiver.receive(
      SenderReport(ssrc: SSRC(0x1111), ntp: ntp, rtpTimestamp: 1, packetCount: 1, octetCount: 1), at: .ms(900))
    guard case .receiverReport(let report)? = receiver.poll(at: .ms(1400)).first, let block = report.blocks.first else {
      return #expect(Bool(false), "no report")
    }
    #expect(block.ssrc == SSRC(0x1111))
    #expect(block.highestSequence == 0x1_0000 + UInt32(65500 + 98 - 65536))
    #expect(block.cumulativeLost == 24)
    #expect(block.fractionLost == UInt8(24 * 256 / 99))
    // The difference is 4 ms in two of three steps: the mean is towards 2.67.
    #expect((2...3).contains(block.jitter))
    #expect(block.lastSenderReport == 0x0002_0003)
    #expect(block.delaySinceLastSenderReport == 32768)
    #expect(receiver.poll(at: .ms(9000)).isEmpty, "nothing has come since")
  }

  @Test func aSenderThatCountsAnewIsFollowed() {
    var receiver = receiver()
    for number in 1...10 { _ = receiver.receive(.media(number, payload: Self.keyframe), at: .ms(Double(number))) }
    #expect(receiver.receive(.media(40000, payload: Self.delta), at: .ms(11)).isEmpty)
    #expect(receiver.receive(.media(40001, payload: Self.delta), at: .ms(12)).count == 1)
    #expect(nacks(receiver.poll(at: .ms(100))).isEmpty)
    #expect(requestsKeyframe(receiver.poll(at: .ms(100))) || receiver.statistics.keyframeRequests == 1)
    #expect(receiver.statistics.packetsLost == 0)
  }

  @Test func packetsStayInTheMemoryTheyCameIn() {
    var receiver = receiver()
    _ = receiver.receive(.media(1, payload: Self.keyframe), at: .ms(0))
    let packet = retransmission(.media(2, payload: Self.delta))
    let out = receiver.receive(packet, at: .ms(1)).first
    #expect(out?.buffer.owner === packet.buffer.owner)
  }
}
