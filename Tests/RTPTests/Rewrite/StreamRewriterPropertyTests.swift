import MediaCore
import Testing

@testable import RTP

@Suite("StreamRewriter under random switches, loss and reordering")
struct StreamRewriterPropertyTests {
  /// One layer as its sender sends it.
  private struct Layer {
    let ssrc: UInt32
    var number: Int
    let timestampStart: Int
    var frame: Int
    let clockError: Int

    mutating func frame(at time: Double, isKey: Bool, parts: Int) -> [RTPPacket] {
      defer { frame += 1 }
      return (0..<parts).map { part in
        defer { number += 1 }
        return StreamRewriterTests.packet(
          ssrc, number: number, timestamp: timestampStart + Int(time) * 90, frame: frame, isKey: isKey,
          begins: part == 0)
      }
    }

    func report(at time: Double) -> SenderReport {
      SenderReport(
        ssrc: SSRC(ssrc), ntp: NTPTime(unixNanoseconds: Int64((time + 1e6) * 1e6)),
        rtpTimestamp: UInt32(truncatingIfNeeded: timestampStart + Int(time) * 90 + clockError), packetCount: 0,
        octetCount: 0)
    }
  }

  private struct Outcome {
    var packets: [RTPPacket] = []
    var switches = 0
    /// The captured time of each.
    var source: [Double] = []
  }

  private func run(seed: UInt64, loss: Double, jitter: Double, hasReports: Bool) -> Outcome {
    var random = SeededRandom(seed: seed)
    var layers = (1...3).map { index in
      Layer(
        ssrc: UInt32(index), number: Int.random(in: 0..<65536, using: &random),
        timestampStart: Int.random(in: 0..<(1 << 32), using: &random),
        frame: Int.random(in: 0..<32768, using: &random),
        clockError: Int.random(in: -90...90, using: &random))
    }
    var link = SimulatedLink<(RTPPacket, Double)>(seed: seed, delay: 5, jitter: jitter, loss: loss)
    var rewriter = StreamRewriter(
      configuration: .init(
        ssrc: SSRC(9), clockRate: 90_000, codec: .vp8, firstSequenceNumber: SequenceNumber(65000)))
    var outcome = Outcome()
    rewriter.select(SSRC(1))
    for frame in 0..<800 {
      let time = Double(frame) * 33
      if random.chance(0.05) {
        rewriter.select(random.chance(0.1) ? nil : SSRC(UInt32.random(in: 1...3, using: &random)))
      }
      for index in layers.indices {
        if hasReports && frame % 30 == 0 { rewriter.receive(layers[index].report(at: time), at: .ms(time)) }
        let isKey = random.chance(0.1)
        let parts = Int.random(in: 1...4, using: &random)
        for packet in layers[index].frame(at: time, isKey: isKey, parts: parts) {
          link.send((packet, time), at: time, copy: { $0 })
        }
      }
      for step in 0..<33 {
        for (packet, captured) in link.receive(at: time + Double(step)) {
          let before = rewriter.current
          for out in rewriter.rewrite(packet, at: .ms(time + Double(step))) {
            outcome.packets.append(out)
            outcome.source.append(captured)
          }
          if let before, let now = rewriter.current, before != now { outcome.switches += 1 }
        }
      }
    }
    return outcome
  }

  @Test(arguments: 0..<12)
  func withoutLossNumbersAndFramesHaveNoHolesAndTimeGoesOn(seed: UInt64) {
    let outcome = run(seed: seed, loss: 0, jitter: 0, hasReports: seed % 2 == 0)
    #expect(outcome.switches > 5)
    // Counted, since an expectation costs more than what it looks at here.
    var holes = (numbers: 0, times: 0, frames: 0, mixtures: 0)
    for (packet, next) in zip(outcome.packets, outcome.packets.dropFirst()) {
      let step = Int32(bitPattern: next.timestamp &- packet.timestamp)
      let ids = [packet, next].compactMap { $0.withPayload { VP8Descriptor($0)?.pictureID } }
      if next.sequenceNumber != packet.sequenceNumber.successor { holes.numbers += 1 }
      if step < 0 { holes.times += 1 }
      if ![0, 1].contains((ids[1] &- ids[0]) & 0x7fff) { holes.frames += 1 }
      if (ids[1] != ids[0]) != (step > 0) { holes.mixtures += 1 }
    }
    #expect(outcome.packets.count > 1000)
    #expect(holes == (0, 0, 0, 0))
  }

  @Test(arguments: 0..<12)
  func withLossAndReorderingNoNumberMeansTwoPackets(seed: UInt64) {
    let outcome = run(seed: seed, loss: 0.1, jitter: 60, hasReports: seed % 2 == 0)
    #expect(outcome.switches > 3)
    var numbers = SequenceUnwrapper()
    var repeated = 0
    var payloads: [Int64: [UInt8]] = [:]
    var timestamps: [(number: Int64, timestamp: UInt32)] = []
    for packet in outcome.packets {
      let number = numbers.unwrap(packet.sequenceNumber.rawValue)
      if payloads.updateValue(packet.payload, forKey: number) != nil { repeated += 1 }
      timestamps.append((number, packet.timestamp))
    }
    timestamps.sort { $0.number < $1.number }
    let steps = zip(timestamps, timestamps.dropFirst()).map { Int32(bitPattern: $1.timestamp &- $0.timestamp) }
    #expect(repeated == 0)
    #expect(steps.count > 1000 && steps.allSatisfy { $0 >= 0 })
  }

  @Test(arguments: 0..<6)
  func timestampsStayWithTheClock(seed: UInt64) {
    let outcome = run(seed: seed, loss: 0.05, jitter: 40, hasReports: true)
    var offsets: [Int32] = []
    let first = outcome.packets[0].timestamp
    for (packet, captured) in zip(outcome.packets, outcome.source) {
      let expected = UInt32(truncatingIfNeeded: Int((captured - outcome.source[0]) * 90))
      offsets.append(Int32(bitPattern: packet.timestamp &- first &- expected))
    }
    // A keyframe that comes up to 40 ms late is put behind what went out before it; after fifty switches the error
    // must not be larger than after one.
    #expect(offsets.map(\.magnitude).max().map { $0 <= 90 * 50 } == true)
  }
}
