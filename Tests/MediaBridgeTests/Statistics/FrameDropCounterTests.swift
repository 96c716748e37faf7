import Testing

@testable import MediaBridge

@Suite struct FrameDropCounterTests {
  private func ledger(offering timestamps: Range<UInt32>) -> FrameDropCounter {
    var ledger = FrameDropCounter()
    ledger.begin(with: [UInt32]())
    for timestamp in timestamps { ledger.note(timestamp) }
    return ledger
  }

  @Test func whatIsOnItsWayIsNotDropped() {
    let ledger = ledger(offering: 0..<10)
    // The newest decoded one is 7: 8 and 9 are still in the decoder.
    #expect(ledger.dropped(decoded: 8) { $0 > 7 } == 0)
    #expect(ledger.dropped(decoded: 5) { $0 > 7 } == 3)
    #expect(ledger.dropped(decoded: 0) { _ in true } == 0)
  }

  @Test func onlyFramesForADecoderCount() {
    var ledger = FrameDropCounter()
    for timestamp in 0..<5 { ledger.note(UInt32(timestamp)) }
    ledger.begin(with: [3, 4] as [UInt32])
    ledger.note(5)
    #expect(ledger.arrived == 6 && ledger.offered == 3)
    ledger.end { $0 > 4 }
    ledger.note(6)
    #expect(ledger.arrived == 7 && ledger.offered == 2)
    #expect(ledger.dropped(decoded: 2) { _ in true } == 0)
    #expect(ledger.dropped(decoded: 1) { _ in true } == 1)
  }

  @Test func aDecoderThatGivesNothingHasDroppedThemInTheEnd() {
    #expect(ledger(offering: 0..<100).dropped(decoded: 0) { _ in true } == 36)
  }

  @Test func endingTwiceIsEndingOnce() {
    var ledger = ledger(offering: 0..<10)
    ledger.end { $0 > 7 }
    ledger.end { $0 > 7 }
    #expect(ledger.offered == 8)
  }
}
