import MediaCore
import Testing

@testable import RTP

@Suite("The pace of packets")
struct PacerTests {
  private static let (small, large) = (SSRC(1), SSRC(2))

  /// - Parameter bitrate: of the link; nil while nothing is known of it.
  private static func pacer(_ bitrate: Int?, sending sent: Int = 0) -> Pacer<Int> {
    var pacer = Pacer<Int>()
    pacer.pace(to: LinkEstimate(bitrate: bitrate ?? 0, limit: bitrate == nil ? .none : .network), sending: sent)
    return pacer
  }

  /// - Returns: what goes, and at which millisecond.
  private static func run(_ pacer: inout Pacer<Int>, milliseconds: ClosedRange<Int>) -> [(packet: Int, time: Int)] {
    milliseconds.flatMap { time in
      var gone: [(packet: Int, time: Int)] = []
      while let packet = pacer.pop(at: .ms(Double(time))) { gone.append((packet, time)) }
      return gone
    }
  }

  @Test func whereNothingWasTooMuchNothingWaits() {
    var pacer = Self.pacer(nil)
    for number in 0..<100 { pacer.push(number, of: Self.small, bytes: 1200, .layer(0)) }
    #expect(Self.run(&pacer, milliseconds: 0...0).map(\.packet) == Array(0..<100))
    #expect(pacer.isEmpty && pacer.delay(at: .ms(0)) == nil)
  }

  /// The first keyframes come before anything is known of the link: 100 packets of 1250 bytes are 1,000,000 bits.
  @Test func theFirstKeyframesAreSpread() {
    var pacer = Self.pacer(nil, sending: 2_000_000)
    _ = pacer.pop(at: .ms(0))
    _ = pacer.pop(at: .ms(100))
    for number in 0..<100 { pacer.push(number, of: Self.small, bytes: 1250, .layer(0)) }
    let gone = Self.run(&pacer, milliseconds: 100...1000)
    #expect(gone.map(\.packet) == Array(0..<100))
    // An ordinary frame waits for nothing.
    #expect((15...25).contains(gone.count { $0.time == 100 }), "\(gone)")
    #expect((250...270).contains(gone.last?.time ?? 0), "\(gone)")
  }

  /// 10 packets of 1250 bytes are 100,000 bits.
  @Test func whatComesAtOnceIsSpread() {
    var pacer = Self.pacer(400_000)
    _ = pacer.pop(at: .ms(0))
    for number in 0..<10 { pacer.push(number, of: Self.small, bytes: 1250, .layer(0)) }
    let gone = Self.run(&pacer, milliseconds: 0...1000)
    #expect(gone.map(\.packet) == Array(0..<10))
    // At one and a half times the bitrate, less the packet that goes at once.
    #expect((130...155).contains(gone.last?.time ?? 0), "\(gone)")
    #expect(zip(gone, gone.dropFirst()).allSatisfy { $1.time - $0.time <= 18 }, "\(gone)")
  }

  @Test func itSaysWhenTheNextOneGoes() {
    var pacer = Self.pacer(400_000)
    _ = pacer.pop(at: .ms(0))
    for number in 0..<2 { pacer.push(number, of: Self.small, bytes: 1250, .layer(0)) }
    #expect(pacer.pop(at: .ms(0)) == 0)
    #expect(pacer.pop(at: .ms(0)) == nil)
    let delay = pacer.delay(at: .ms(0)) ?? .zero
    #expect(pacer.pop(at: .ms(0) + delay - .milliseconds(1)) == nil)
    #expect(pacer.pop(at: .ms(0) + delay + .microseconds(1)) == 1)
  }

  @Test func whatIsMoreImportantGoesFirst() {
    var pacer = Self.pacer(100_000)
    pacer.push(20, of: Self.large, bytes: 1200, .layer(2))
    pacer.push(10, of: Self.small, bytes: 1200, .layer(0))
    pacer.push(21, of: Self.large, bytes: 1200, .layer(2))
    pacer.push(0, of: Self.large, bytes: 1200, .again)
    pacer.push(11, of: Self.small, bytes: 1200, .layer(0))
    #expect(Self.run(&pacer, milliseconds: 0...2000).map(\.packet) == [0, 10, 11, 20, 21])
  }

  @Test func audioTakesItsPartOfTheLink() {
    var (alone, beside) = (Self.pacer(400_000), Self.pacer(400_000))
    for number in 0..<10 {
      alone.push(number, of: Self.small, bytes: 1250, .layer(0))
      beside.push(number, of: Self.small, bytes: 1250, .layer(0))
    }
    beside.pass(bytes: 7500, at: .ms(0))
    let first = Self.run(&alone, milliseconds: 0...1000).last?.time ?? 0
    let second = Self.run(&beside, milliseconds: 0...1000).last?.time ?? 0
    #expect((90...110).contains(second - first), "\(first), \(second)")
  }

  /// A link that carries nothing for half a minute, but for the audio that is tried.
  @Test func audioMakesNoDebtThatHoldsUpVideoForLong() {
    var pacer = Self.pacer(30_000)
    for time in stride(from: 0, to: 30_000, by: 50) { pacer.pass(bytes: 1000, at: .ms(Double(time))) }
    pacer.pace(to: LinkEstimate(bitrate: 1_000_000, limit: .network), sending: 0)
    pacer.push(1, of: Self.small, bytes: 1200, .layer(0))
    #expect(pacer.delay(at: .ms(30_000)).map { $0 < .milliseconds(450) } == true)
    #expect((0...450).contains((Self.run(&pacer, milliseconds: 30_000...33_000).first?.time ?? 0) - 30_000))
  }

  /// The link has to tell that it is too much: nobody sees a queue of ours.
  @Test func nothingWaitsForLong() {
    var pacer = Self.pacer(100_000)
    var waited: [Int] = []
    for time in 0..<4000 {
      // Four times what the link carries.
      if time % 25 == 0 { pacer.push(time, of: Self.small, bytes: 1250, .layer(0)) }
      while let packet = pacer.pop(at: .ms(Double(time))) { waited.append(time - packet) }
    }
    #expect(waited.max() ?? 0 < 450 && waited.count > 100, "\(waited)")
  }

  @Test func silenceSavesNothingUp() {
    var pacer = Self.pacer(400_000)
    _ = pacer.pop(at: .ms(0))
    for number in 0..<10 { pacer.push(number, of: Self.small, bytes: 1250, .layer(0)) }
    #expect(Self.run(&pacer, milliseconds: 60_000...60_000).count <= 1)
  }

  @Test func whatIsSentNoMoreIsThrownAway() {
    var pacer = Self.pacer(400_000)
    for number in 0..<10 { pacer.push(number, of: number % 2 == 0 ? Self.small : Self.large, bytes: 1250, .layer(0)) }
    pacer.drop(Self.large)
    #expect(Self.run(&pacer, milliseconds: 0...1000).map(\.packet) == [0, 2, 4, 6, 8])
    #expect(pacer.isEmpty)
  }

  /// A line that never ends takes no more memory for it.
  @Test func theOrderHoldsInALineThatNeverEnds() {
    var pacer = Self.pacer(1_000_000)
    var gone: [Int] = []
    for number in 0..<1000 {
      pacer.push(number, of: Self.small, bytes: 1250, .layer(0))
      if number > 20 { gone += Self.run(&pacer, milliseconds: number * 7...number * 7).map(\.packet) }
    }
    #expect(gone == Array(0..<gone.count) && gone.count > 900)
  }
}
