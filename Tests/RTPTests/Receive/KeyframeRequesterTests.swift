import MediaCore
import Testing

@testable import RTP

@Suite("Asking for keyframes")
struct KeyframeRequesterTests {
  @Test func requestsAreKeptApart() {
    var requester = KeyframeRequester()
    requester.request()
    #expect(requester.poll(at: .ms(1000), repeats: false) == true)
    #expect(requester.poll(at: .ms(1001), repeats: false) == false)
    requester.request()
    #expect(requester.poll(at: .ms(1299), repeats: false) == false)
    #expect(requester.nextDeadline == .ms(1300))
    #expect(requester.poll(at: .ms(1300), repeats: false) == true)
    #expect(requester.nextDeadline == nil)
  }

  @Test func requestsAreRepeatedUntilTheKeyframeComes() {
    var requester = KeyframeRequester()
    requester.request(at: .ms(50))
    #expect(requester.poll(at: .ms(49), repeats: true) == false)
    #expect(requester.poll(at: .ms(50), repeats: true) == true)
    #expect(requester.poll(at: .ms(649), repeats: true) == false)
    #expect(requester.poll(at: .ms(650), repeats: true) == true)
    requester.request()
    #expect(requester.poll(at: .ms(950), repeats: true) == true)
    requester.arrived()
    #expect(requester.poll(at: .ms(9000), repeats: true) == false)
  }
}
