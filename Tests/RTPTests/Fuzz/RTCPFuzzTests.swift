import MediaCore
import Testing

@testable import RTP

@Suite("Garbage as RTCP")
struct RTCPFuzzTests {
  private struct Machine {
    var sender = RTPSender(configuration: .init(ssrc: SSRC(0x1111), clockRate: 90_000))
    var receiver = RTPReceiver(configuration: .init(ssrc: SSRC(0x1111), clockRate: 90_000))
    var timeline = SenderTimeline()
    var read = 0

    init() {
      timeline.addTrack("x", clockRate: 90_000)
      for number in 0..<10 {
        sender.sent(.media(number), at: .ms(0))
        _ = receiver.receive(.media(number), at: .ms(0))
      }
    }

    mutating func take(_ bytes: [UInt8], at time: MediaTime) {
      let packets = parseRTCP(bytes)
      read += packets.count
      precondition(packets.count <= bytes.count / 4 + 1)
      for packet in packets {
        _ = sender.receive(packet, at: time)
        if case .senderReport(let report) = packet {
          receiver.receive(report, at: time)
          timeline.observe("x", report: report.ntp, timestamp: report.rtpTimestamp)
          timeline.observe("x", timestamp: report.rtpTimestamp, at: time)
        }
      }
      // What was read once is read again as the same.
      precondition(roundTrip(packets).count == packets.count)
      _ = receiver.poll(at: time)
    }
  }

  @Test func corpusIsSurvived() throws {
    var machine = Machine()
    for (index, bytes) in try Corpus.load("rtcp").enumerated() { machine.take(bytes, at: .ms(Double(index))) }
    #expect(machine.read > 0)
  }

  @Test(arguments: 0..<4)
  func mutationsAreSurvived(seed: UInt64) throws {
    var machine = Machine()
    var mutator = Mutator(seeds: try Corpus.load("rtcp"), seed: seed &+ 100)
    for index in 0..<25_000 { machine.take(mutator.next(), at: .ms(Double(index) * 3)) }
    #expect(machine.read > 100)
  }
}
