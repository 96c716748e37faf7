import MediaCore
import Testing

@testable import RTP

/// Whatever arrives, nothing traps, and what is handed on stays within its memory. Debug builds check every index.
@Suite("Garbage as RTP")
struct RTPFuzzTests {
  /// Everything that looks into packets, as one owner would chain it.
  private struct Machine {
    private static let formats: [PayloadType: RTPReceiver.Format] = [
      PayloadType(96): .video(.vp8), PayloadType(97): .retransmission(of: PayloadType(96)),
      PayloadType(98): .video(.vp9), PayloadType(102): .video(.h264), PayloadType(104): .video(.h265),
      PayloadType(106): .video(.av1), PayloadType(63): .redundant, PayloadType(111): .media,
      PayloadType(64): .retransmission(of: PayloadType(63)), PayloadType(99): .forwardErrorCorrection,
    ]
    var receiver = RTPReceiver(
      configuration: .init(ssrc: SSRC(0x1111), clockRate: 90_000, formats: formats, usesNACK: true))
    var recorder = TransportFeedbackRecorder(sender: SSRC(1))
    var rewriter = StreamRewriter(configuration: .init(ssrc: SSRC(9), clockRate: 90_000, codec: .vp8))
    var sender = RTPSender(
      configuration: .init(
        ssrc: SSRC(9), clockRate: 90_000,
        retransmission: .init(ssrc: SSRC(10), payloadTypes: [PayloadType(96): PayloadType(97)])))
    var timeline = SenderTimeline()
    var handedOn = 0

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
      for packet in receiver.receive(packet, at: time) {
        handedOn += 1
        precondition(packet.start + packet.count <= packet.buffer.count && packet.payloadLength >= 0)
        precondition(packet.reparsed?.payload == packet.payload, "the header does not describe the packet")
        timeline.observe("x", timestamp: packet.timestamp, at: time)
        for out in rewriter.rewrite(packet, at: time) { sender.sent(out, at: time) }
      }
      for request in receiver.poll(at: time) + recorder.poll(at: time) {
        _ = roundTrip([request])
        _ = sender.receive(request, at: time)
      }
    }
  }

  @Test func corpusIsSurvived() throws {
    var machine = Machine()
    for (index, bytes) in try Corpus.load("rtp").enumerated() { machine.take(bytes, at: .ms(Double(index))) }
    #expect(machine.handedOn > 0)
  }

  @Test(arguments: 0..<4)
  func mutationsAreSurvived(seed: UInt64) throws {
    var machine = Machine()
    var mutator = Mutator(seeds: try Corpus.load("rtp"), seed: seed)
    for index in 0..<25_000 {
      var bytes = mutator.next()
      // Most follow in sequence, or all would end at the first hurdle.
      if index % 4 != 0 && bytes.count >= 12 {
        bytes.replaceSubrange(2..<4, with: [UInt8(index / 256 & 255), UInt8(index & 255)])
      }
      machine.take(bytes, at: .ms(Double(index) * 3))
    }
    #expect(machine.handedOn > 3000)
  }
}
