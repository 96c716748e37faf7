import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// What of the mixed media is of a job, and when all of it has come.
@Suite struct MixGateTests {
  private func time(_ milliseconds: Int) -> MediaTime { MediaTime(nanoseconds: 0) + .milliseconds(milliseconds) }

  @Test func itKnowsWhatIsMissingAtTheEnd() {
    let gate = MixGate()
    #expect(!gate.passes(.video, at: time(900)) && gate.missing(of: [.video]).isEmpty, "it has not begun")
    gate.open(at: time(1000))
    #expect(gate.passes(.video, at: time(1500)) && gate.passes(.audio, at: time(1200)))
    #expect(gate.missing(of: [.video, .audio]).isEmpty, "there is no end")
    gate.close(at: time(2000))
    #expect(gate.missing(of: [.video, .audio]) == [.video: .milliseconds(500), .audio: .milliseconds(800)])
    #expect(!gate.passes(.video, at: time(2000)) && gate.passes(.audio, at: time(1999)))
    #expect(gate.missing(of: [.video, .audio]) == [.audio: .milliseconds(1)])
    #expect(!gate.passes(.audio, at: time(2019)) && gate.missing(of: [.video, .audio]).isEmpty)
  }

  @Test func ofAKindOfWhichNothingHasComeAllIsMissing() {
    let gate = MixGate()
    gate.open(at: time(1000))
    gate.close(at: time(3000))
    #expect(gate.missing(of: [.audio]) == [.audio: .seconds(2)])
  }
}
