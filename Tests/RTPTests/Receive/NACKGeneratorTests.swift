import MediaCore
import Testing

@testable import RTP

@Suite("Asking for missing packets")
struct NACKGeneratorTests {
  private func numbers(_ generator: inout NACKGenerator, highest: Int64, at time: Double) -> [UInt16] {
    generator.poll(highest: highest, at: .ms(time)).requests.map(\.rawValue)
  }

  @Test func asksAtOnceWhenOvertakenTwiceElseAfterAMoment() {
    var generator = NACKGenerator()
    #expect(generator.noteGap(5..<6, at: .ms(0)) == true)
    #expect(numbers(&generator, highest: 6, at: 0).isEmpty)
    #expect(generator.nextDeadline(highest: 6) == .ms(10))
    #expect(numbers(&generator, highest: 7, at: 1) == [5])
    #expect(generator.noteGap(8..<9, at: .ms(20)) == true)
    #expect(numbers(&generator, highest: 9, at: 29).isEmpty)
    #expect(numbers(&generator, highest: 9, at: 30) == [8])
  }

  @Test func repeatsByTheRoundTripUntilItGivesUp() {
    var generator = NACKGenerator()
    _ = generator.noteGap(5..<6, at: .ms(0))
    #expect(numbers(&generator, highest: 9, at: 0) == [5])
    generator.noteArrival(5, highest: 9, isRetransmission: true, at: .ms(40))
    // The round trip is 40 ms now, so requests are 53 ms apart.
    _ = generator.noteGap(10..<11, at: .ms(100))
    #expect(numbers(&generator, highest: 19, at: 100) == [10])
    #expect(numbers(&generator, highest: 19, at: 152).isEmpty)
    #expect(numbers(&generator, highest: 19, at: 153) == [10])
    var requests = 2
    var givenUp = 0
    for time in 154..<2000 {
      let result = generator.poll(highest: 19, at: .ms(Double(time)))
      requests += result.requests.count
      givenUp += result.givenUp
    }
    #expect(requests == 10)
    #expect(givenUp == 1 && generator.pending == 0)
    #expect(generator.nextDeadline(highest: 19) == nil)
  }

  @Test func aRepairTakesThreeRequestsAtMost() {
    var generator = NACKGenerator()
    #expect(generator.repairTime == nil)
    _ = generator.noteGap(5..<6, at: .ms(0))
    #expect(numbers(&generator, highest: 9, at: 0) == [5])
    generator.noteArrival(5, highest: 9, isRetransmission: true, at: .ms(40))
    // At the latest asked for after 10 ms, and twice more 53 ms apart.
    #expect(generator.repairTime == .milliseconds(10 + 53 + 53 + 40))
  }

  @Test func ageEndsSlowRetriesToo() {
    var generator = NACKGenerator()
    _ = generator.noteGap(5..<7, at: .ms(0))
    #expect(generator.poll(highest: 9, at: .ms(999)).requests.count == 2)
    #expect(generator.poll(highest: 9, at: .ms(1000)).givenUp == 2)
  }

  @Test func reorderingRaisesTheTolerance() {
    var generator = NACKGenerator()
    _ = generator.noteGap(1..<2, at: .ms(0))
    generator.noteArrival(1, highest: 6, isRetransmission: false, at: .ms(1))
    _ = generator.noteGap(10..<11, at: .ms(10))
    #expect(numbers(&generator, highest: 15, at: 11).isEmpty)
    #expect(numbers(&generator, highest: 16, at: 11) == [10])
  }

  @Test func aHoleTooLargeIsGivenUpAltogether() {
    var generator = NACKGenerator()
    #expect(generator.noteGap(0..<400, at: .ms(0)) == true)
    #expect(generator.noteGap(500..<700, at: .ms(1)) == false)
    #expect(generator.pending == 0)
  }
}
