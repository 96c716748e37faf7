import MediaCore
import Testing

@testable import PeerTransport

@Suite struct HeartbeatTimerTests {
  private func packet(_ chunks: (type: UInt8, value: [UInt8])...) -> [UInt8] {
    chunks.reduce(into: [UInt8](repeating: 0, count: 12)) { packet, chunk in
      packet += [chunk.type, 0, 0, UInt8(chunk.value.count + 4)] + chunk.value
      packet += [UInt8](repeating: 0, count: -packet.count & 3)
    }
  }

  private func time(_ milliseconds: Int64) -> MediaTime { MediaTime(nanoseconds: milliseconds * 1_000_000) }

  @Test func theTimeBetweenQuestionAndAnswer() {
    var timer = HeartbeatTimer()
    timer.expect(at: time(0))
    packet((3, [1])).withUnsafeBytes { timer.sent($0, at: time(0)) }
    // Behind another chunk that is padded, as the stack may bundle them.
    packet((3, [1, 2, 3]), (4, [7, 8, 9])).withUnsafeBytes { timer.sent($0, at: time(10)) }
    #expect(timer.roundTrip(at: time(11)) == nil)
    packet((5, [7, 8, 0])).withUnsafeBytes { timer.received($0, at: time(20)) }
    #expect(timer.roundTrip(at: time(21)) == nil)
    packet((5, [7, 8, 9])).withUnsafeBytes { timer.received($0, at: time(35)) }
    #expect(timer.roundTrip(at: time(40)) == .milliseconds(25))
    // An answer counts once, and not for ever.
    packet((5, [7, 8, 9])).withUnsafeBytes { timer.received($0, at: time(90)) }
    #expect(timer.roundTrip(at: time(5035)) == .milliseconds(25))
    #expect(timer.roundTrip(at: time(5036)) == nil)
  }

  @Test func anAnswerThatTakesLongerThanTheNextQuestionCounts() {
    var timer = HeartbeatTimer()
    for (number, second) in [UInt8(1), 2, 3].enumerated() {
      timer.expect(at: time(Int64(number) * 1000))
      packet((4, [second])).withUnsafeBytes { timer.sent($0, at: time(Int64(number) * 1000)) }
    }
    packet((5, [1])).withUnsafeBytes { timer.received($0, at: time(2500)) }
    #expect(timer.roundTrip(at: time(2500)) == .milliseconds(2500))
  }

  @Test func aLostOneDoesNotKeepTheNextFromBeingTimed() {
    var timer = HeartbeatTimer()
    for (number, sent) in [UInt8(1), 2].enumerated() {
      timer.expect(at: time(Int64(number) * 1000))
      packet((4, [sent])).withUnsafeBytes { timer.sent($0, at: time(Int64(number) * 1000)) }
    }
    packet((5, [2])).withUnsafeBytes { timer.received($0, at: time(1400)) }
    #expect(timer.roundTrip(at: time(1400)) == .milliseconds(400))
    // It was overtaken, and is old.
    packet((5, [1])).withUnsafeBytes { timer.received($0, at: time(1500)) }
    #expect(timer.roundTrip(at: time(1500)) == .milliseconds(400))
  }

  @Test func ofMoreThanTwoASecondOnlySomeAreTimed() {
    var timer = HeartbeatTimer()
    for number in 0..<3 as Range<UInt8> {
      timer.expect(at: time(Int64(number) * 100))
      packet((4, [number])).withUnsafeBytes { timer.sent($0, at: time(Int64(number) * 100)) }
    }
    packet((5, [1])).withUnsafeBytes { timer.received($0, at: time(300)) }
    #expect(timer.roundTrip(at: time(300)) == nil)
    packet((5, [0])).withUnsafeBytes { timer.received($0, at: time(400)) }
    #expect(timer.roundTrip(at: time(400)) == .milliseconds(400))
  }

  @Test func heartbeatsOfTheStackItselfAreNotTimed() {
    var timer = HeartbeatTimer()
    packet((4, [1])).withUnsafeBytes { timer.sent($0, at: time(0)) }
    packet((5, [1])).withUnsafeBytes { timer.received($0, at: time(5)) }
    #expect(timer.roundTrip(at: time(6)) == nil)
  }

  @Test(arguments: [0, 11, 13, 15]) func shortPacketsAreNone(length: Int) {
    var timer = HeartbeatTimer()
    timer.expect(at: time(0))
    packet((4, [1])).withUnsafeBytes { timer.sent($0, at: time(0)) }
    packet((5, [1])).prefix(length).withUnsafeBytes { timer.received($0, at: time(5)) }
    [UInt8](repeating: 0, count: 64).withUnsafeBytes { timer.received($0, at: time(5)) }
    #expect(timer.roundTrip(at: time(6)) == nil)
  }
}
