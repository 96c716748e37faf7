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
    #expect(ledger.all == ["init.mp4", "2", "3", "4"])
    ledger.add(initialization: "init-2.mp4", bytes: 7)
    #expect(ledger.all == ["init.mp4", "init-2.mp4", "2", "3", "4"])
    #expect(ledger.count == 5 && ledger.bytes == 514)
    #expect(ledger.length == .seconds(10))
  }

  @Test func fewSegmentsStay() {
    var ledger = SegmentLedger()
    ledger.add(segment: "0", bytes: 1, lasting: .seconds(2))
    #expect(ledger.takeOld(keeping: 3) == [])
    #expect(ledger.files == ["0"])
  }

  /// It is asked for each second, and has a hundred thousand files after a week.
  @Test func aListOfAllIsNotCopied() {
    func place(_ list: [String]) -> UnsafePointer<String>? { list.withUnsafeBufferPointer(\.baseAddress) }
    let files = ["0", "1"]
    #expect(place(StageList.joined([[], files, []])) == place(files))
    #expect(StageList.joined([files, [], ["2"]]) == ["0", "1", "2"] && StageList.joined([[], []]).isEmpty)
  }
}
