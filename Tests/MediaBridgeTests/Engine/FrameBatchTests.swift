import MediaCore
import RTP
import Testing

@testable import MediaBridge

/// When the rest of a frame is waited for.
struct FrameBatchTests {
  private let begin = MediaTime(nanoseconds: 1_000_000_000)

  private func packet(_ number: UInt16, marker: Bool, timestamp: UInt32 = 1) -> ArrivedPacket {
    let packet = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: timestamp,
      ssrc: SSRC(10), marker: marker, payload: [1])
    return ArrivedPacket(packet, at: begin)
  }

  @Test func aFrameIsAwaitedUntilItsEnd() {
    var batch = FrameBatch(startsKeyframe: { _ in false })
    #expect(!batch.awaitsMore(at: begin))
    batch.add(packet(1, marker: false))
    batch.flush { _ in Issue.record("handed on without its end") }
    #expect(batch.awaitsMore(at: begin))
    batch.add(packet(2, marker: true))
    #expect(!batch.awaitsMore(at: begin))
  }

  @Test func aSenderThatStopsInsideAFrameIsNotAwaited() {
    var batch = FrameBatch(startsKeyframe: { _ in false })
    batch.add(packet(1, marker: false))
    #expect(!batch.awaitsMore(at: begin + .milliseconds(10)))
  }

  /// As a screen's, which are the largest: what is handed on before its end cannot be taken back where a server changes
  /// over to another layer inside it.
  @Test func aLargeKeyframeThatIsCutOffIsNotHandedOn() {
    var batch = FrameBatch(startsKeyframe: { _ in true })
    for number in 1...1200 as ClosedRange<UInt16> {
      batch.add(packet(number, marker: false))
      batch.flush { _ in Issue.record("handed on without its end") }
    }
    batch.add(packet(1201, marker: true, timestamp: 2))
    var lengths: [Int] = []
    batch.flush { lengths = $0.map(\.packet.payloadLength) }
    #expect(lengths == [Int](repeating: 0, count: 1200) + [1])
  }

  @Test func audioIsNotAwaited() {
    var batch = FrameBatch(startsKeyframe: nil)
    batch.add(packet(1, marker: false))
    #expect(!batch.awaitsMore(at: begin))
  }
}
