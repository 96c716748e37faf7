import MediaCore
import Testing

@testable import RTP

@Suite("Whose packets a stream has")
struct StreamIdentityTests {
  @Test func theFirstPacketNamesAnUnknownStream() {
    var identity = StreamIdentity(ssrc: nil, rtxSSRC: nil)
    #expect(identity.retransmits(SSRC(2)) == false)
    #expect(identity.sends(SSRC(1)) == true)
    #expect(identity.sends(SSRC(2)) == false)
    #expect(identity.ssrc == SSRC(1))
  }

  @Test func whatWasAnnouncedIsBelieved() {
    var identity = StreamIdentity(ssrc: SSRC(1), rtxSSRC: SSRC(2))
    #expect(identity.sends(SSRC(3)) == false)
    #expect(identity.retransmits(SSRC(3)) == false)
    #expect(identity.retransmits(SSRC(2)) == true)
  }

  @Test func theFirstRetransmissionNamesItsSource() {
    var identity = StreamIdentity(ssrc: SSRC(1), rtxSSRC: nil)
    #expect(identity.retransmits(SSRC(1)) == false)
    #expect(identity.rtxSSRC == nil)
    #expect(identity.retransmits(SSRC(2)) == true)
    #expect(identity.retransmits(SSRC(3)) == false)
    #expect(identity.rtxSSRC == SSRC(2))
  }
}
