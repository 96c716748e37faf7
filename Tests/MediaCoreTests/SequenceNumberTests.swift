import MediaCore
import Testing

@Suite("Wrapping counters")
struct SequenceNumberTests {
  @Test func orderIsTheShorterWayRound() {
    #expect(SequenceNumber(0).isAfter(SequenceNumber(65535)))
    #expect(SequenceNumber(0).distance(from: SequenceNumber(65535)) == 1)
    #expect(SequenceNumber(65535).distance(from: SequenceNumber(2)) == -3)
    #expect(SequenceNumber(32768).distance(from: SequenceNumber(0)) == -32768)
    #expect(SequenceNumber(65535).successor == SequenceNumber(0))
    #expect(SequenceNumber(1) + -3 == SequenceNumber(65534))
  }

  @Test func unwrappingFollowsWrapsAndToleratesReordering() {
    var unwrapper = SequenceUnwrapper()
    #expect(unwrapper.peek(5) == nil)
    #expect(unwrapper.unwrap(65534) == 65534)
    #expect(unwrapper.unwrap(1) == 65537)
    #expect(unwrapper.unwrap(65535) == 65535)
    #expect(unwrapper.peek(2) == 65538)
    #expect(unwrapper.unwrap(2) == 65538)
  }

  @Test func timestampsUnwrapOverManyRounds() {
    var unwrapper = TimestampUnwrapper()
    var expected: Int64 = 4_000_000_000
    for _ in 0..<100 {
      #expect(unwrapper.unwrap(UInt32(truncatingIfNeeded: expected)) == expected)
      expected += 1_500_000_000
    }
  }
}
