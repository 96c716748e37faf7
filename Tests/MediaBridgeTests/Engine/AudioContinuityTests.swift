import MediaCore
import RTP
import Testing

@testable import MediaBridge

/// What a decoder of audio is told of packets that came, were lost, or had nothing in them.
@Suite struct AudioContinuityTests {
  /// Packets of 20 ms of Opus on their way.
  private struct Run {
    private var sequencer = PacketSequencer()
    private var continuity = AudioContinuity()
    private var ready: [ArrivedPacket] = []
    /// As a depayloader reads them.
    private(set) var numbers: [Int] = []
    /// How many packets are made up at each loss.
    private(set) var concealed: [Int] = []

    /// - Parameter place: on the line of what is heard, in 20 ms.
    mutating func arrive(_ number: UInt16, place: UInt32) {
      let packet = RTPPacket(
        payloadType: PayloadType(111), sequenceNumber: SequenceNumber(number), timestamp: place &* 960, ssrc: SSRC(1),
        payload: [1, 2, 3])
      sequencer.insert(ArrivedPacket(packet, at: MediaTime(nanoseconds: 0)), into: &ready)
      take()
    }

    /// Goes on without what is missing.
    mutating func skip() {
      while let gap = sequencer.skip(at: MediaTime(nanoseconds: 0), wait: .zero, into: &ready) {
        continuity.lose(gap)
        take()
      }
    }

    /// The sender counts from somewhere else.
    mutating func restart() {
      sequencer.restart(into: &ready)
      take()
    }

    private mutating func take() {
      for var arrived in ready {
        if let gap = continuity.add(&arrived.packet) { concealed.append(gap.count) }
        numbers.append(arrived.packet.withUnsafeBytes { Int($0[2]) << 8 | Int($0[3]) })
      }
      ready.removeAll()
    }
  }

  @Test func aLossIsConcealedAndLeavesNoGapInTheNumbers() {
    var run = Run()
    run.arrive(65_534, place: 0)
    run.arrive(65_535, place: 1)
    run.arrive(2, place: 4)
    run.skip()
    #expect(run.numbers == [65_534, 65_535, 0] && run.concealed == [2])
  }

  /// The numbers of three packets are missing, one of which had audio in it.
  @Test func lostPaddingIsNotConcealed() {
    var run = Run()
    run.arrive(1, place: 1)
    run.arrive(2, place: 2)
    run.arrive(6, place: 4)
    run.skip()
    run.arrive(9, place: 5)
    run.skip()
    #expect(run.numbers == [1, 2, 3, 4] && run.concealed == [1])
  }

  @Test func aSenderThatCountsAnewGoesOn() {
    var run = Run()
    run.arrive(1, place: 1)
    run.restart()
    run.arrive(30_007, place: 900_000)
    run.arrive(30_008, place: 900_001)
    #expect(run.numbers == [1, 2, 3] && run.concealed.isEmpty)
  }
}
