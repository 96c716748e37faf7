import Testing

@testable import Egress

@Suite("What is known of written segments")
struct SegmentLedgerTests {
  @Test func whatHasGoneStillCounts() {
    var ledger = SegmentLedger()
    ledger.add(initialization: "init.mp4", bytes: 7)
    for number in 0..<5 { ledger.add(segment: "\(number)", bytes: 100, lasting: .seconds(2)) }
    #expect(ledger.takeOld(keeping: 3) == ["0", "1"])
    #expect(ledger.takeOld(keeping: 3) == [])
    #expect(ledger.files == ["2", "3", "4"])
    #expect(ledger.initializations == ["init.mp4"])
    #expect(ledger.count == 5 && ledger.bytes == 507)
    #expect(ledger.length == .seconds(10))
  }

  @Test func fewSegmentsStay() {
    var ledger = SegmentLedger()
    ledger.add(segment: "0", bytes: 1, lasting: .seconds(2))
    #expect(ledger.takeOld(keeping: 3) == [])
    #expect(ledger.files == ["0"])
  }
}
