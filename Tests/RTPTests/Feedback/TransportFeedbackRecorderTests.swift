import MediaCore
import Testing

@testable import RTP

@Suite("Recording transport-wide arrivals")
struct TransportFeedbackRecorderTests {
  /// What the sender learns: for each number when it arrived, in units of 250 µs.
  private func arrivals(in packets: [RTCPPacket], reference: MediaTime) -> [UInt16: Int64?] {
    var arrivals: [UInt16: Int64?] = [:]
    for case .transportFeedback(let feedback) in roundTrip(packets) {
      let near = reference.nanoseconds / 64_000_000
      let wrapped = Int32(bitPattern: (feedback.referenceTime &- UInt32(truncatingIfNeeded: near)) << 8) >> 8
      var tick = (near + Int64(wrapped)) * 256
      for (index, delta) in feedback.deltas.enumerated() {
        let number = (feedback.firstSequence + index).rawValue
        if let delta {
          tick += Int64(delta)
          arrivals[number] = tick
        } else if arrivals[number] == nil {
          arrivals[number] = .some(nil)
        }
      }
    }
    return arrivals
  }

  @Test(arguments: 0..<20)
  func senderLearnsEachArrival(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var recorder = TransportFeedbackRecorder(sender: SSRC(1))
    // Close to a wrap of the 24-bit reference time.
    let base = 0xff_fff0 * 64.0
    var time = base
    var expected: [UInt16: Int64] = [:]
    var packets: [RTCPPacket] = []
    let first = UInt16.random(in: 65000...65535, using: &random)
    var waiting: [(UInt16, Double)] = []
    for index in 0..<2000 {
      time += Double.random(in: 0...3, using: &random)
      if random.chance(0.002) { time += 9000 }
      let number = first &+ UInt16(index)
      if index > 0 && random.chance(0.1) { continue }
      waiting.append((number, time + (random.chance(0.1) ? Double.random(in: 0...60, using: &random) : 0)))
      for (number, arrival) in waiting.filter({ $0.1 <= time }).sorted(by: { $0.1 < $1.1 }) {
        recorder.record(SequenceNumber(number), media: SSRC(2), at: .ms(arrival))
        expected[number] = MediaTime.ms(arrival).nanoseconds / 250_000
      }
      waiting.removeAll { $0.1 <= time }
      packets += recorder.poll(at: .ms(time))
    }
    packets += recorder.poll(at: .ms(time + 1000))
    let learnt = arrivals(in: packets, reference: .ms(base))
    for (number, tick) in expected { #expect(learnt[number] == .some(.some(tick)), "packet \(number)") }
    #expect(learnt.values.contains { $0 == nil })
    for packet in packets { #expect(RTCPPacket.serialize([packet]).count <= 1200) }
    let counts = packets.compactMap {
      if case .transportFeedback(let feedback) = $0 { feedback.feedbackCount } else { nil }
    }
    #expect(counts.indices.allSatisfy { counts[$0] == UInt8(truncatingIfNeeded: $0) })
  }

  @Test func reportsKeepTheirInterval() {
    var recorder = TransportFeedbackRecorder(sender: SSRC(1), interval: .milliseconds(50))
    #expect(recorder.nextDeadline == nil)
    recorder.record(SequenceNumber(1), media: SSRC(2), at: .ms(1000))
    #expect(recorder.poll(at: .ms(1049)).isEmpty)
    #expect(recorder.poll(at: .ms(1050)).count == 1)
    #expect(recorder.poll(at: .ms(2000)).isEmpty)
    recorder.record(SequenceNumber(2), media: SSRC(2), at: .ms(1060))
    #expect(recorder.nextDeadline == .ms(1100))
  }

  @Test func hugeJumpsBeginAnew() {
    var recorder = TransportFeedbackRecorder(sender: SSRC(1))
    recorder.record(SequenceNumber(1), media: SSRC(2), at: .ms(1000))
    recorder.record(SequenceNumber(30000), media: SSRC(2), at: .ms(1001))
    let packets = recorder.poll(at: .ms(1100))
    guard case .transportFeedback(let feedback)? = packets.first else { return #expect(Bool(false), "no feedback") }
    #expect(packets.count == 1 && feedback.deltas.count == 1)
  }
}
