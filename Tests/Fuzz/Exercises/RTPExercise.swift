import Bitstream
import MediaCore
import RTP

extension Exercise {
  /// Everything that looks into packets, as one owner would chain it.
  func rtp(_ steps: Steps) -> Int {
    var machine = RTPMachine()
    for step in steps { machine.take(step.bytes, at: step.time) }
    return machine.handedOn
  }

  func rtcp(_ steps: Steps) -> Int {
    var machine = RTCPMachine()
    for step in steps { machine.take(step.bytes, at: step.time) }
    return machine.read
  }
}

private func roundTrip(_ packets: [RTCPPacket]) -> [RTCPPacket] {
  RTCPPacket.serialize(packets).withUnsafeBytes { RTCPPacket.parse($0) }
}

private struct RTPMachine {
  private static let formats: [PayloadType: RTPReceiver.Format] = [
    PayloadType(96): .video(.vp8), PayloadType(97): .retransmission(of: PayloadType(96)),
    PayloadType(98): .video(.vp9), PayloadType(102): .video(.h264), PayloadType(104): .video(.h265),
    PayloadType(106): .video(.av1), PayloadType(63): .redundant, PayloadType(111): .media,
    PayloadType(64): .retransmission(of: PayloadType(63)),
  ]
  private var receiver = RTPReceiver(
    configuration: .init(ssrc: SSRC(0x1111), clockRate: 90_000, formats: formats, usesNACK: true))
  private var recorder = TransportFeedbackRecorder(sender: SSRC(1))
  private var rewriter = StreamRewriter(configuration: .init(ssrc: SSRC(9), clockRate: 90_000, codec: .vp8))
  private var sender = RTPSender(
    configuration: .init(
      ssrc: SSRC(9), clockRate: 90_000,
      retransmission: .init(ssrc: SSRC(10), payloadTypes: [PayloadType(96): PayloadType(97)])))
  private var timeline = SenderTimeline()
  private(set) var handedOn = 0

  init() {
    timeline.addTrack("x", clockRate: 90_000)
    rewriter.select(SSRC(0x1111))
  }

  mutating func take(_ bytes: [UInt8], at time: MediaTime) {
    guard let packet = try? RTPPacket(parsing: PacketBuffer(copying: bytes)) else { return }
    for id in [UInt8(0), 1, 5, 6, 15, 255] { _ = packet.headerExtensionInteger(id) }
    if let number = packet.headerExtensionInteger(5) {
      recorder.record(SequenceNumber(UInt16(truncatingIfNeeded: number)), media: packet.ssrc, at: time)
    }
    for packet in receiver.receive(packet, at: time) { forward(packet, at: time) }
    for request in receiver.poll(at: time) + recorder.poll(at: time) {
      _ = roundTrip([request])
      _ = sender.receive(request, at: time)
    }
  }

  private mutating func forward(_ packet: RTPPacket, at time: MediaTime) {
    handedOn += 1
    precondition(packet.start + packet.count <= packet.buffer.count && packet.payloadLength >= 0)
    let bytes = packet.withUnsafeBytes { Array($0) }
    let again = try? RTPPacket(parsing: PacketBuffer(copying: bytes))
    precondition(
      again?.withPayload { Array($0) } == packet.withPayload { Array($0) }, "the header does not describe the packet")
    timeline.observe("x", timestamp: packet.timestamp, at: time)
    _ = timeline.awaitsPlace("x", at: time)
    for out in rewriter.rewrite(packet, at: time) { sender.sent(out, at: time) }
    if packet.payloadType == PayloadType(106) { packet.withPayload(assemble) }
  }

  /// What is read of AV1 is cut into packets again, and those are read.
  private func assemble(_ payload: UnsafeRawBufferPointer) {
    guard let assembly = AV1Assembly([payload]) else { return }
    var unit = [UInt8](repeating: 0, count: assembly.count)
    unit.withUnsafeMutableBytes { assembly.write(to: $0) }
    unit.withUnsafeBytes { unit in
      _ = AV1OBUs(unit).startsCodedSequence
      AV1Packetizer(limit: 40).packetize(unit) { piece in
        var bytes = [UInt8](repeating: 0, count: piece.count)
        bytes.withUnsafeMutableBytes { piece.write(to: $0) }
        precondition(piece.count <= 40, "more than fits")
      }
    }
  }
}

private struct RTCPMachine {
  private var sender = RTPSender(configuration: .init(ssrc: SSRC(0x1111), clockRate: 90_000))
  private var receiver = RTPReceiver(configuration: .init(ssrc: SSRC(0x1111), clockRate: 90_000))
  private var timeline = SenderTimeline()
  private var controller = DelayAndLossController()
  private(set) var read = 0

  init() {
    timeline.addTrack("x", clockRate: 90_000)
    for number in UInt16(0)..<10 {
      let packet = RTPPacket(
        payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: UInt32(number) * 3000,
        ssrc: SSRC(0x1111), marker: false, payload: [1, 2, 3])
      sender.sent(packet, at: MediaTime(nanoseconds: 0))
      controller.sent(bytes: packet.count, number: SequenceNumber(number), at: MediaTime(nanoseconds: 0))
      _ = receiver.receive(packet, at: MediaTime(nanoseconds: 0))
    }
  }

  mutating func take(_ bytes: [UInt8], at time: MediaTime) {
    let packets = bytes.withUnsafeBytes { RTCPPacket.parse($0) }
    read += packets.count
    precondition(packets.count <= bytes.count / 4 + 1)
    for packet in packets {
      _ = sender.receive(packet, at: time)
      controller.receive(packet, at: time)
      if case .senderReport(let report) = packet {
        receiver.receive(report, at: time)
        timeline.observe("x", report: report.ntp, timestamp: report.rtpTimestamp)
        timeline.observe("x", timestamp: report.rtpTimestamp, at: time)
        _ = timeline.time("x", of: report.rtpTimestamp)
      }
    }
    controller.advance(to: time)
    precondition(roundTrip(packets).count == packets.count, "what was read once is not read again")
    for report in receiver.poll(at: time) { _ = roundTrip([report]) }
  }
}
