import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

/// When a composite begins, and which of what is mixed belongs into it.
@Suite struct CompositeStartTests {
  private let begin = MediaTime(nanoseconds: 1_000_000_000_000)
  private var rule = CompositeStart()

  private mutating func missing(
    _ milliseconds: Int, video: Bool = false, subscribed: Bool = true, seen: Bool = false, heard: Bool = false
  ) -> String? {
    rule.missing(
      hasVideo: video, isEmpty: false, isSubscribed: subscribed, isSeen: seen, isHeard: heard,
      at: begin + .milliseconds(milliseconds))
  }

  @Test mutating func theFirstFrameBeginsIt() {
    #expect(missing(0, video: true) == "the first frame")
    #expect(missing(100, video: true, heard: true) == "the first frame", "a camera is waited for")
    #expect(missing(200, video: true, seen: true) == nil)
  }

  @Test mutating func audioAloneBeginsIt() {
    #expect(missing(0) == "the first frame" && missing(400) == "the first frame")
    #expect(missing(100, heard: true) == nil)
    #expect(missing(600) == nil, "who is silent is recorded, too")
  }

  @Test mutating func aCameraThatSendsNothingIsWaitedForFiveSeconds() {
    #expect(missing(0, video: true, subscribed: false) == "a track")
    #expect(missing(1000, video: true) != nil && missing(5900, video: true) != nil)
    #expect(missing(6100, video: true) == nil)
  }

  @Test func whatIsMixedBeforeAndAfterIsLeftOut() {
    let gate = MixGate()
    func passes(_ kind: Track.Kind, _ milliseconds: Int) -> Bool {
      gate.passes(kind, at: begin + .milliseconds(milliseconds))
    }
    #expect(!passes(.video, 0), "nothing has begun")
    gate.open(at: begin + .milliseconds(100))
    #expect(!passes(.video, 90) && passes(.video, 100) && passes(.audio, 500))
    gate.close(at: begin + .milliseconds(1000))
    #expect(passes(.video, 990) && !gate.missing(of: [.video, .audio]).isEmpty)
    #expect(!passes(.video, 1000) && !gate.missing(of: [.video, .audio]).isEmpty, "audio comes later")
    #expect(!passes(.audio, 1010) && gate.missing(of: [.video, .audio]).isEmpty)
  }

  @Test func metadataNamesALayout() {
    #expect(CompositeLayout(metadata: #"{"layout": "speaker"}"#) == .speaker)
    #expect(CompositeLayout(metadata: #"{"layout": "single-speaker-light"}"#) == .light(.singleSpeaker))
    #expect(CompositeLayout(metadata: #"{"layout": "mosaic"}"#) == nil)
    #expect(CompositeLayout(metadata: "hello") == nil && CompositeLayout(metadata: #"{"layout": 3}"#) == nil)
  }
}
