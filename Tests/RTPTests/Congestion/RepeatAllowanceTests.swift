import MediaCore
import RTP
import Testing

@Suite struct RepeatAllowanceTests {
  /// What is sent again in `seconds` where a packet is asked for each 5 ms.
  private func repeated(_ limit: LinkEstimate.Limit, seconds: Int) -> Int {
    var allowance = RepeatAllowance()
    let estimate = LinkEstimate(bitrate: 400_000, limit: limit)
    return (0..<(seconds * 200)).count {
      allowance.takes(1000, within: estimate, at: MediaTime(nanoseconds: Int64($0) * 5_000_000))
    }
  }

  @Test func aFullLinkIsNotFilledWithRepetitions() {
    // A tenth of 400 kbit/s, and a second of it at once.
    #expect((40...55).contains(repeated(.network, seconds: 10)))
  }

  @Test func onAWideLinkAllIsSentAgain() { #expect(repeated(.none, seconds: 10) == 2000) }
}
