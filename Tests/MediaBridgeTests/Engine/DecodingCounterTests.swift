import MediaCore
import RTP
import Testing

@testable import MediaBridge

/// With how many frames a decoder begins.
@Suite struct DecodingCounterTests {
  private func packet(_ number: UInt16, of frame: UInt32, marker: Bool) -> RTPPacket {
    RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: frame, ssrc: SSRC(1),
      marker: marker, payload: [1])
  }

  /// One of the frame before it was lost, and comes again between its packets.
  @Test func whatComesLateEndsNoKeyframe() {
    var counter = DecodingCounter(trackSid: "TR_1", isVideo: true, clock: ParticipantClock())
    let now = MediaTime.now
    counter.note(packet(1, of: 3000, marker: true), beginsAnew: true, at: now)
    counter.note(packet(3, of: 6000, marker: true), beginsAnew: false, at: now)
    counter.note(packet(4, of: 9000, marker: false), beginsAnew: true, at: now)
    counter.note(packet(2, of: 6000, marker: false), beginsAnew: false, at: now)
    counter.note(packet(5, of: 9000, marker: true), beginsAnew: false, at: now)
    counter.begin(with: nil)
    #expect(counter.arrived == 3 && counter.frames.offered == 1)
  }
}
