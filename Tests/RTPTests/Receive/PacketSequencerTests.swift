import MediaCore
import ParserExercises
import Testing

@testable import RTP

@Suite struct PacketSequencerTests {
  private let wait = Duration.milliseconds(100)

  /// A sequencer with what came out of it.
  private struct Run {
    var sequencer = PacketSequencer()
    var ready: [ArrivedPacket] = []

    var numbers: [Int] { ready.map { Int($0.packet.sequenceNumber.rawValue) } }

    mutating func insert(_ numbers: Int..., at milliseconds: Double = 0) {
      for number in numbers { insert(.media(number), at: milliseconds) }
    }

    mutating func insert(_ packet: RTPPacket, at milliseconds: Double = 0) {
      sequencer.insert(ArrivedPacket(packet, at: .ms(milliseconds)), into: &ready)
    }
  }

  @Test func whatComesInOrderGoesOnAtOnce() {
    var run = Run()
    for number in 65_530...65_540 {
      run.insert(number)
      #expect(run.numbers.last == number % 65_536 && run.sequencer.deadline(wait: wait) == nil)
    }
    #expect(run.ready.count == 11 && run.sequencer.waiting == 0)
  }

  @Test func whatWasOvertakenTakesItsPlace() {
    var run = Run()
    run.insert(65_534, 0, 2, 1)
    #expect(run.numbers == [65_534] && run.sequencer.waiting == 3)
    run.insert(65_535)
    #expect(run.numbers == [65_534, 65_535, 0, 1, 2] && run.sequencer.waiting == 0)
    #expect(run.sequencer.deadline(wait: wait) == nil)
  }

  @Test func aFrameIsWholeFromItsFirstPacketToItsLast() {
    var run = Run()
    /// - Parameter begins: whether a keyframe does.
    func insert(_ number: Int, begins: Bool = false, marker: Bool = false) {
      run.insert(
        RTPPacket(
          payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(number)), timestamp: 0, ssrc: SSRC(1),
          marker: marker, payload: [begins ? 1 : 0]))
    }
    func whole() -> Int? {
      run.sequencer.wholeFrame { $0.withPayload { $0.first == 1 } }.map { Int($0.rawValue) }
    }
    insert(1, marker: true)
    insert(3, marker: true)
    insert(5, begins: true)
    insert(7, marker: true)
    #expect(whole() == nil, "one is missing")
    insert(9, begins: true)
    insert(10)
    #expect(whole() == nil, "its end is missing")
    insert(11, marker: true)
    #expect(whole() == 9)
    insert(6)
    #expect(whole() == 5)
  }

  /// Parameter sets may stand in front of a later slice: what is behind them is no whole keyframe then, and what was
  /// lost of it is worth waiting for.
  @Test func aKeyframeIsWholeFromParameterSetsAndItsFirstSliceOn() {
    var run = Run()
    let parts: [UInt8: KeyframePart] = [1: .beginning, 5: .firstSlice, 6: .laterSlice, 7: .parameterSets]
    func insert(_ number: UInt16, _ first: UInt8, marker: Bool = false) {
      run.insert(
        RTPPacket(
          payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: 0, ssrc: SSRC(1),
          marker: marker, payload: [first]))
    }
    func whole() -> UInt16? {
      run.sequencer.wholeKeyframe { $0.withPayload { $0.first.flatMap { parts[$0] } } }?.rawValue
    }
    insert(1, 0, marker: true)
    insert(3, 7)
    insert(4, 6, marker: true)
    #expect(whole() == nil, "a later slice")
    insert(6, 5, marker: true)
    #expect(whole() == nil, "its parameter sets are missing")
    insert(8, 7)
    insert(10, 5, marker: true)
    #expect(whole() == nil, "one is missing between")
    insert(12, 1, marker: true)
    #expect(whole() == 12)
    insert(9, 0)
    #expect(whole() == 10)
  }

  /// Each gap is waited for from when it was seen, and told once.
  @Test func aGapIsGivenUpWhenItsTimeHasPassed() {
    var run = Run()
    run.insert(1, at: 0)
    run.insert(4, at: 40)
    run.insert(6, at: 80)
    #expect(run.sequencer.deadline(wait: wait) == .ms(140))
    #expect(run.sequencer.skip(at: .ms(139), wait: wait, into: &run.ready) == nil)
    let first = run.sequencer.skip(at: .ms(140), wait: wait, into: &run.ready)
    #expect(first == .init(first: SequenceNumber(2), count: 2, timestamps: (3000, 12_000)))
    #expect(run.numbers == [1, 4] && run.sequencer.deadline(wait: wait) == .ms(180))
    #expect(run.sequencer.skip(at: .ms(140), wait: wait, into: &run.ready) == nil)
    let second = run.sequencer.skip(at: .ms(500), wait: wait, into: &run.ready)
    #expect(second == .init(first: SequenceNumber(5), count: 1, timestamps: (12_000, 18_000)))
    #expect(run.numbers == [1, 4, 6] && run.sequencer.skip(at: .ms(500), wait: wait, into: &run.ready) == nil)
    run.insert(7)
    #expect(run.numbers == [1, 4, 6, 7])
  }

  @Test func whatComesAfterItWasGivenUpIsDropped() {
    var run = Run()
    run.insert(1, 3, 3)
    #expect(run.sequencer.skip(at: .ms(100), wait: wait, into: &run.ready)?.count == 1)
    run.insert(2, 1, 3, 4)
    #expect(run.numbers == [1, 3, 4])
  }

  /// A shorter wait is for what waits already, too.
  @Test func theWaitMayChangeMeanwhile() {
    var run = Run()
    run.insert(1, 3)
    #expect(run.sequencer.deadline(wait: .milliseconds(500)) == .ms(500))
    #expect(run.sequencer.skip(at: .ms(20), wait: .milliseconds(20), into: &run.ready)?.count == 1)
  }

  @Test func aSenderThatCountsAnewIsFollowed() {
    var run = Run()
    run.insert(100, 101, 103)
    run.sequencer.restart(into: &run.ready)
    run.insert(7, 8)
    #expect(run.numbers == [100, 101, 103, 7, 8] && run.sequencer.waiting == 0)
  }

  /// An hour of loss and reordering: all that comes in time goes on, once and in order.
  @Test(arguments: [1, 2, 3] as [UInt64]) func orderHoldsWhateverComes(seed: UInt64) {
    var link = SimulatedLink<ArrivedPacket>(seed: seed, delay: 20, jitter: 60, loss: 0.05, duplication: 0.02)
    var run = Run()
    var (arrived, skipped) = (Set<UInt16>(), 0)
    for step in 0..<20_000 {
      let now = Double(step)
      link.send(ArrivedPacket(.media(step), at: .ms(now)), at: now, copy: { $0 })
      for item in link.receive(at: now) {
        arrived.insert(item.packet.sequenceNumber.rawValue)
        run.sequencer.insert(ArrivedPacket(item.packet, at: .ms(now)), into: &run.ready)
      }
      while let gap = run.sequencer.skip(at: .ms(now), wait: wait, into: &run.ready) { skipped += gap.count }
      // It waits for nothing longer than asked.
      #expect(run.sequencer.deadline(wait: wait).map { $0 > .ms(now) } ?? true)
    }
    let numbers = run.numbers
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    // What was given up never came, since the link holds nothing back for longer than the wait.
    let expected = arrived.count { Int($0) >= numbers.first ?? 0 }
    #expect(Set(numbers).count == numbers.count && expected - numbers.count == run.sequencer.waiting)
    #expect(numbers.count + skipped == (numbers.last ?? 0) - (numbers.first ?? 0) + 1)
  }
}
