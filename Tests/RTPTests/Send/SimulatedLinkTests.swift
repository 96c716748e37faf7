import MediaCore
import Testing

@testable import RTP

/// A sender and a receiver on virtual time over a bad network: what the one sends is what the other hands on.
@Suite("Sender to receiver over a simulated link")
struct SimulatedLinkTests {
  struct Network: Sendable, CustomStringConvertible {
    var loss = 0.0
    var jitter = 0.0
    var duplication = 0.0
    var usesRTX = true
    var description: String { "loss \(loss) jitter \(jitter) duplication \(duplication) rtx \(usesRTX)" }
  }

  static let networks = [
    Network(), Network(loss: 0.05), Network(loss: 0.15, jitter: 10), Network(loss: 0.1, usesRTX: false),
    Network(jitter: 30), Network(duplication: 0.3), Network(loss: 0.1, jitter: 20, duplication: 0.1),
  ]

  @Test(arguments: networks, [UInt64(1), 2])
  func everythingArrivesOnce(network: Network, seed: UInt64) {
    var run = Run(network: network, seed: seed)
    run.go(packets: 2500)
    #expect(run.handedOn.count == run.sent.count - run.missing.count, "each number once")
    // Nobody knows of what was sent before the first packet that arrived. What is lost ten times in a row is lost for
    // good: at 15 % that is one in 10^8.
    let start = run.handedOn.first ?? .max
    #expect(run.missing.count { $0 > start } == 0)
    #expect(run.wrong == 0)
    #expect(run.longestWait < 1000)
    if network.loss == 0 && network.jitter == 0 {
      #expect(run.receiver.statistics.nackedPackets == 0)
      #expect(run.receiver.statistics.packetsLost == 0)
    }
    if network.loss > 0 && network.jitter == 0 && network.usesRTX {
      #expect(abs(run.receiver.statistics.packetsLost - run.originalsLost) <= 2)
      let needed = Double(run.originalsLost) / (1 - network.loss) / (1 - network.loss)
      #expect(Double(run.receiver.statistics.nackedPackets) < 1.2 * needed + 10, "asks no more than it must")
    }
    #expect(run.sender.statistics.roundTripTime.map { (0.039...0.12).contains($0.seconds) } == true)
  }

  /// Tail loss apart, nothing is known of a packet until a later one comes.
  struct Run {
    var sender: RTPSender
    var receiver: RTPReceiver
    var sent: [Int: Double] = [:]
    var handedOn: [Int] = []
    var wrong = 0
    var longestWait = 0.0
    var originalsLost = 0
    private var forth: SimulatedLink<RTPPacket>
    private var back: SimulatedLink<[RTCPPacket]>
    private let first = 65000

    init(network: Network, seed: UInt64) {
      forth = SimulatedLink(
        seed: seed, delay: 20, jitter: network.jitter, loss: network.loss, duplication: network.duplication)
      back = SimulatedLink(seed: seed &+ 1000, delay: 20, jitter: network.jitter / 4, loss: network.loss)
      let types = [PayloadType(96): PayloadType(97)]
      sender = RTPSender(
        configuration: .init(
          ssrc: SSRC(0x1111), clockRate: 90_000,
          retransmission: network.usesRTX ? .init(ssrc: SSRC(0x2222), payloadTypes: types) : nil))
      receiver = RTPReceiver(
        configuration: .init(
          ssrc: SSRC(0x1111), clockRate: 90_000,
          formats: [PayloadType(96): .media, PayloadType(97): .retransmission(of: PayloadType(96))], usesNACK: true))
    }

    var missing: Set<Int> { Set(sent.keys).subtracting(handedOn) }

    mutating func go(packets: Int) {
      var time = 0.0
      // Bursts of five each 10 ms, as frames are sent; afterwards a second of single packets that nobody counts.
      for index in 0..<(packets + 500) {
        let number = first + index
        let packet = RTPPacket.media(number, timestamp: UInt32(truncatingIfNeeded: Int(time) * 90))
        if index < packets { sent[number] = time }
        sender.sent(packet, at: .ms(time))
        let before = forth.lost
        forth.send(packet, at: time, copy: { $0.copy() })
        originalsLost += forth.lost - before
        if index % 5 == 4 || index >= packets {
          for _ in 0..<10 {
            time += 1
            step(at: time)
          }
        }
      }
    }

    private mutating func step(at time: Double) {
      for packet in forth.receive(at: time) {
        for out in receiver.receive(packet, at: .ms(time)) { take(out, at: time) }
      }
      if receiver.isUrgent(at: .ms(time)) { back.send(receiver.poll(at: .ms(time)), at: time, copy: { $0 }) }
      for packets in back.receive(at: time) {
        for packet in packets {
          for again in sender.receive(packet, at: .ms(time)).retransmissions {
            forth.send(again, at: time, copy: { $0.copy() })
          }
        }
      }
      for case .senderReport(let report) in sender.poll(at: .ms(time), ntp: NTPTime(unixNanoseconds: Int64(time * 1e6)))
      {
        receiver.receive(report, at: .ms(time + 20))
      }
    }

    private mutating func take(_ packet: RTPPacket, at time: Double) {
      guard let number = Int(packet.text.dropFirst("packet ".count)), let sentAt = sent[number] else { return }
      if packet.sequenceNumber.rawValue != UInt16(truncatingIfNeeded: number) || packet.ssrc != SSRC(0x1111) {
        wrong += 1
      }
      handedOn.append(number)
      longestWait = max(longestWait, time - sentAt)
    }
  }
}
