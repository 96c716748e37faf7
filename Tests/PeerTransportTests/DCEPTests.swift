import Testing

@testable import PeerTransport

@Suite struct DCEPTests {
  @Test func anAcknowledgementMayBePadded() {
    #expect(DCEP.isAck(DCEP.ack) && DCEP.isAck([2, 0, 0, 0]))
    #expect(!DCEP.isAck([]) && !DCEP.isAck(DCEP.serialize(.init(isOrdered: true, label: "_reliable"))))
  }

  @Test(arguments: [nil, 0, 3]) func anOpeningIsReadAsItWasWritten(_ maxRetransmits: UInt32?) {
    for isOrdered in [true, false] {
      let open = DCEP.Open(isOrdered: isOrdered, maxRetransmits: maxRetransmits, label: "_lossy")
      #expect(DCEP.parseOpen(DCEP.serialize(open)) == open)
      #expect(DCEP.parseOpen(Array(DCEP.serialize(open).dropLast())) == nil)
    }
  }
}
