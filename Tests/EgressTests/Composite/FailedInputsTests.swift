import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// When a track is tried again whose tile has failed.
@Suite struct FailedInputsTests {
  private let start = MediaTime(nanoseconds: 0)
  private let format = FailedInputs.Format(codec: "vp8", size: Dimensions(width: 1, height: 1))

  @Test func itIsTriedAgainAfterPausesThatDouble() {
    var failed = FailedInputs()
    #expect(!failed.isOut("a", format, at: start))
    var now = start
    for pause in [2, 4, 8, 16, 32, 60, 60] {
      failed.note("a", format, at: now)
      #expect(failed.isOut("a", format, at: now + .seconds(Double(pause) - 0.1)))
      now = now + .seconds(pause)
      #expect(!failed.isOut("a", format, at: now))
    }
    #expect(!failed.isOut("b", format, at: start), "the others stay")
  }

  @Test func inAnotherFormatItIsTriedAtOnceButNotTenTimesASecond() {
    var failed = FailedInputs()
    failed.note("a", format, at: start)
    var next = format
    next.size = Dimensions(width: 640, height: 360)
    #expect(failed.isOut("a", next, at: start + .milliseconds(100)))
    #expect(!failed.isOut("a", next, at: start + .milliseconds(500)))
    failed.note("a", next, at: start + .seconds(1))
    #expect(!failed.isOut("a", next, at: start + .seconds(3)), "its pauses begin anew")
    var republished = next
    republished.track = ObjectIdentifier(Self.self)
    #expect(!failed.isOut("a", republished, at: start + .seconds(1.6)))
  }
}
