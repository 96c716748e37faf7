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
    var givenUp: [Int64] = []
    for time in 154..<2000 {
      let result = generator.poll(highest: 19, at: .ms(Double(time)))
      requests += result.requests.count
      if let lost = result.givenUp { givenUp.append(lost) }
    }
    #expect(requests == 12)
    #expect(givenUp == [10] && generator.pending == 0)
    #expect(generator.nextDeadline(highest: 19) == nil)
  }

  @Test func aRepairMayBeLostTwice() {
    var generator = NACKGenerator()
    #expect(generator.repairTime == nil)
    _ = generator.noteGap(5..<6, at: .ms(0))
    #expect(numbers(&generator, highest: 9, at: 0) == [5])
    generator.noteArrival(5, highest: 9, isRetransmission: true, at: .ms(40))
    // One that comes soon says little: a server may not know the way yet.
    #expect(generator.repairTime == .microseconds(10_000 + (105_000 * 7 + 40_000) / 8 * 3))
    for number in 1...60 as ClosedRange<Int64> {
      let time = Double(number * 1000)
      _ = generator.noteGap(number * 10..<number * 10 + 1, at: .ms(time))
      #expect(numbers(&generator, highest: number * 10 + 4, at: time) == [UInt16(number * 10)])
      generator.noteArrival(number * 10, highest: number * 10 + 4, isRetransmission: true, at: .ms(time + 40))
    }
    // At the latest asked for after 10 ms, and again every 53 ms.
    #expect(generator.repairTime == .milliseconds(10 + 3 * 53))
  }

  /// LiveKit's server does so for some seconds, as long as it has not heard how long the way is.
  @Test(arguments: [2.0, 40, 90]) func aServerThatAnswersNothingWithin100MillisecondsIsAskedUntilItDoes(way: Double) {
    var (generator, random) = (NACKGenerator(), UInt64(1))
    func isLost() -> Bool {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return random >> 33 % 10 == 0
    }
    var (answered, coming, repairs): ([Int64: Double], [(number: Int64, time: Double)], [Double]) = ([:], [], [])
    for time in stride(from: 0.0, to: 20_000, by: 1) {
      let highest = Int64(time / 5)
      // A packet every 5 ms, which was sent half a way ago; each 20th is lost.
      if time.truncatingRemainder(dividingBy: 100) == 0 {
        _ = generator.noteGap(highest..<highest + 1, at: .ms(time))
        answered[highest] = time - way / 2
      }
      for number in numbers(&generator, highest: highest, at: time).map(Int64.init) {
        guard let sent = answered[number], time + way / 2 - sent > 100 else { continue }
        answered[number] = time + way / 2
        if !isLost() { coming.append((number, time + way)) }
      }
      for (number, due) in coming where due == time {
        generator.noteArrival(number, highest: highest, isRetransmission: true, at: .ms(time))
        repairs.append(time - Double(number) * 5)
      }
    }
    let wait = generator.repairTime.map { Double($0.components.attoseconds) / 1e15 } ?? 0
    #expect(repairs.count >= 198 && wait < 450 + 3 * way, "\(repairs.count) of 200 within \(wait) ms")
    #expect(repairs.filter { $0 > max(wait, 350) }.count <= 1 && repairs.sorted()[100] < 120 + way, "\(repairs)")
  }

  @Test func ageEndsSlowRetriesToo() {
    var generator = NACKGenerator()
    _ = generator.noteGap(5..<7, at: .ms(0))
    #expect(generator.poll(highest: 9, at: .ms(999)).requests.count == 2)
    #expect(generator.poll(highest: 9, at: .ms(1000)).givenUp == 6)
  }

  /// What a pipeline has gone on without is of no use, but tells how long the next one is to be waited for.
  @Test func whatNobodyWaitsForIsNotAskedFor() {
    var generator = NACKGenerator()
    for gap in [5..<6, 8..<9] as [Range<Int64>] { _ = generator.noteGap(gap, at: .ms(0)) }
    #expect(numbers(&generator, highest: 20, at: 10) == [5, 8])
    generator.abandon(before: 8)
    #expect(numbers(&generator, highest: 30, at: 150) == [8])
    #expect(generator.repairTime == nil)
    generator.noteArrival(5, highest: 40, isRetransmission: true, at: .ms(460))
    #expect(generator.repairTime == .milliseconds(10 + 3 * (450 * 6 / 5 + 5)))
    generator.abandon(before: 9)
    #expect(generator.nextDeadline(highest: 50) == .ms(1000) && numbers(&generator, highest: 50, at: 999).isEmpty)
    #expect(generator.poll(highest: 50, at: .ms(1000)).givenUp == 8 && generator.pending == 0)
  }

  @Test func reorderingRaisesTheTolerance() {
    var generator = NACKGenerator()
    _ = generator.noteGap(1..<2, at: .ms(0))
    generator.noteArrival(1, highest: 6, isRetransmission: false, at: .ms(1))
    _ = generator.noteGap(10..<11, at: .ms(10))
    #expect(numbers(&generator, highest: 15, at: 11).isEmpty)
    #expect(numbers(&generator, highest: 16, at: 11) == [10])
  }

  /// Of audio, whose retransmissions are not told from what was sent first.
  @Test func whatWasAskedForIsARetransmission() {
    var generator = NACKGenerator()
    for number in [1, 10, 20] as [Int64] {
      let time = Double(number) * 100
      _ = generator.noteGap(number..<(number + 1), at: .ms(time))
      #expect(numbers(&generator, highest: number + 4, at: time) == [UInt16(number)])
      generator.noteArrival(number, highest: number + 5, isRetransmission: nil, at: .ms(time + 30))
    }
    #expect(generator.repairTime.map { $0 < .milliseconds(300) } == true)
    _ = generator.noteGap(30..<31, at: .ms(5000))
    generator.noteArrival(30, highest: 36, isRetransmission: nil, at: .ms(5001))
    _ = generator.noteGap(40..<41, at: .ms(6000))
    #expect(numbers(&generator, highest: 45, at: 6001).isEmpty, "it was overtaken")
  }

  @Test func aHoleTooLargeIsGivenUpAltogether() {
    var generator = NACKGenerator()
    #expect(generator.noteGap(0..<400, at: .ms(0)) == true)
    #expect(generator.noteGap(500..<700, at: .ms(1)) == false)
    #expect(generator.pending == 0)
  }
}
