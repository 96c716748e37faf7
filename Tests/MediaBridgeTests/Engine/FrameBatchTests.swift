import MediaCore
import RTP
import Testing

@testable import MediaBridge

/// When the rest of a frame is waited for.
struct FrameBatchTests {
  private let begin = MediaTime(nanoseconds: 1_000_000_000)

  private func packet(_ number: UInt16, marker: Bool) -> ArrivedPacket {
    let packet = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: 1, ssrc: SSRC(10),
      marker: marker, payload: [1])
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

  @Test func audioIsNotAwaited() {
    var batch = FrameBatch(startsKeyframe: nil)
    batch.add(packet(1, marker: false))
    #expect(!batch.awaitsMore(at: begin))
  }
}
