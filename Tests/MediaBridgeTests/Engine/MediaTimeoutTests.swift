import MediaCore
import Testing

@testable import MediaBridge

@Suite struct MediaTimeoutTests {
  private func at(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(seconds * 1e9)) }

  @Test func mediaThatStaysAwayIsLostOnceAndRestoredByTheNextPacket() {
    var watch = MediaTimeout(at: at(0))
    #expect(watch.arrived(at: at(1)) == nil && watch.poll(at: at(2.9)) == nil)
    #expect(watch.poll(at: at(3)) == .lost)
    #expect(watch.poll(at: at(9)) == nil)
    #expect(watch.arrived(at: at(10)) == .restored)
    #expect(watch.arrived(at: at(10.1)) == nil && watch.poll(at: at(12)) == nil)
    #expect(watch.poll(at: at(12.1)) == .lost)
  }

  @Test func whatIsMutedOrPausedIsNotLost() {
    var watch = MediaTimeout(at: at(0))
    _ = watch.arrived(at: at(1))
    watch.expect(false, at: at(1.5))
    #expect(watch.poll(at: at(60)) == nil)
    watch.expect(true, at: at(60))
    // It has its time anew; that it is expected still is no news.
    watch.expect(true, at: at(61))
    #expect(watch.poll(at: at(61.9)) == nil)
    #expect(watch.poll(at: at(62)) == .lost)
  }

  @Test func whatNeverCameIsMissingOnceAndNotLost() {
    var watch = MediaTimeout(at: at(0))
    #expect(watch.poll(at: at(9.9)) == nil)
    #expect(watch.poll(at: at(10)) == .missing)
    #expect(watch.poll(at: at(30)) == nil)
    #expect(watch.arrived(at: at(31)) == nil)
    #expect(watch.poll(at: at(33)) == .lost)
  }

  /// When it is told that packets go on which come each 100 ms, and with none of which one can begin.
  private func unabated(_ watch: inout MediaTimeout, _ tenths: ClosedRange<Int>, isNew: Bool = true) -> [Double] {
    tenths.compactMap { tenth in
      let time = Double(tenth) / 10
      return watch.arrived(at: at(time), isNew: isNew, beginsAnew: false) == .unabated ? time : nil
    }
  }

  @Test func whatGoesOnInAPauseIsToldOnce() {
    var watch = MediaTimeout(at: at(0))
    _ = watch.arrived(at: at(1))
    watch.expect(false, at: at(2))
    // It was on the way, or ends with the pause's beginning.
    #expect(unabated(&watch, 20...49).isEmpty)
    let told = unabated(&watch, 50...120)
    #expect(told.count == 1 && told.allSatisfy { $0 < 5.3 })
    // The server was told again, and has its time anew.
    watch.expect(false, at: at(12))
    #expect(unabated(&watch, 121...149).isEmpty)
    #expect(unabated(&watch, 150...200).count == 1)
  }

  @Test func whatIsRepeatedOrComesNowAndThenDoesNotGoOn() {
    var watch = MediaTimeout(at: at(0))
    _ = watch.arrived(at: at(1))
    watch.expect(false, at: at(2))
    #expect(unabated(&watch, 20...100, isNew: false).isEmpty)
    for second in stride(from: 12, to: 60, by: 2) {
      #expect(watch.arrived(at: at(Double(second)), beginsAnew: false) == nil)
    }
    watch.expect(true, at: at(60))
    #expect(unabated(&watch, 600...700).isEmpty)
  }

  @Test func whatComesInAPauseIsToldOnce() {
    var watch = MediaTimeout(at: at(0))
    _ = watch.arrived(at: at(1))
    watch.expect(false, at: at(2))
    // It was on the way.
    #expect(watch.arrived(at: at(2.5)) == nil)
    #expect(watch.arrived(at: at(3.1), beginsAnew: false) == nil)
    #expect(watch.arrived(at: at(3.1)) == .unexpected)
    #expect(watch.arrived(at: at(3.2)) == nil)
    // Another reason for it.
    watch.expect(false, at: at(3.3))
    #expect(watch.arrived(at: at(3.5)) == nil)
    watch.expect(true, at: at(4))
    #expect(watch.arrived(at: at(6)) == nil)
    watch.expect(false, at: at(7))
    #expect(watch.arrived(at: at(9)) == .unexpected)
  }
}
