import MediaCore
import Testing

@testable import RTP

@Suite("Transport-wide feedback")
struct TransportFeedbackTests {
  private func feedback(_ deltas: [Int16?]) -> TransportFeedback {
    TransportFeedback(
      sender: SSRC(1), media: SSRC(2), firstSequence: SequenceNumber(65530), feedbackCount: 3, referenceTime: 0xabcdef,
      deltas: deltas)
  }
  private func chunks(_ deltas: [Int16?]) -> [UInt16] { PacketStatus.chunks(deltas.map { PacketStatus($0) }) }

  @Test func chunksAreThoseOfTheDraft() {
    #expect(chunks(Array(repeating: nil, count: 221)) == [0x00dd])
    #expect(chunks(Array(repeating: 4, count: 24)) == [0x2018])
    // 3.1.3: one bit each; 3.1.4: two bits each.
    #expect(chunks([nil, 1, 1, 1, 1, 1, nil, nil, nil, 1, 1, 1, nil, nil]) == [0x9f1c])
    #expect(chunks([nil, -1, -1, -1, 1, nil, nil, -1]).first == UInt16(0xc000 | 0b00_10_10_10_01_00_00))
  }

  @Test func anyDeltasRoundTrip() {
    var random = SeededRandom(seed: 42)
    for _ in 0..<500 {
      let count = Int.random(in: 1...300, using: &random)
      let loss = Double.random(in: 0...1, using: &random)
      let large = Double.random(in: 0...0.5, using: &random)
      let deltas = (0..<count).map { _ -> Int16? in
        if random.chance(loss) { return nil }
        return random.chance(large) ? .random(in: .min ... .max, using: &random) : .random(in: 0...255, using: &random)
      }
      #expect(roundTrip([.transportFeedback(feedback(deltas))]) == [.transportFeedback(feedback(deltas))])
    }
  }

  @Test func claimsBeyondReasonAreRefused() {
    let head = "00 00 00 01 00 00 00 02 00 00"
    // 65535 packets in nine runs of lost ones.
    #expect(parseRTCP(hex("8f cd 00 09 \(head) ff ff 00 00 00 00" + String(repeating: "1f ff", count: 10))).isEmpty)
    // Chunks or deltas missing; an empty run.
    #expect(parseRTCP(hex("8f cd 00 05 \(head) 00 ff 00 00 00 00 00 01 00 01")).isEmpty)
    #expect(parseRTCP(hex("8f cd 00 05 \(head) 00 08 00 00 00 00 40 08 00 01")).isEmpty)
    #expect(parseRTCP(hex("8f cd 00 05 \(head) 00 08 00 00 00 00 00 00 00 00")).isEmpty)
  }
}
