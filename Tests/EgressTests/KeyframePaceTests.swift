import BridgeTesting
import GStreamerKit
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

@Suite struct KeyframePaceTests {
  /// The frames, 40 ms apart, of which a keyframe is asked for.
  private func asked(_ pace: inout KeyframePace, _ frames: Range<Int>) -> [Int] {
    frames.filter { pace.isDue(at: .milliseconds($0 * 40)) }
  }

  @Test func asOftenAsTheShortestIntervalSays() {
    var pace = KeyframePace()
    pace.interval = .milliseconds(400)
    #expect(asked(&pace, -20..<0) == [], "nothing has come out yet")
    pace.made(at: .zero)
    #expect(asked(&pace, 0..<31) == [10, 20, 30])
    pace.interval = nil
    #expect(asked(&pace, 31..<200) == [])
    pace.interval = .seconds(2)
    #expect(asked(&pace, 200..<202) == [200])
  }

  /// x264enc takes no request ahead of its first keyframe.
  @Test func whoWaitsForATimeGetsTheFirstFrameFromThenOn() {
    var pace = KeyframePace()
    #expect(pace.await(from: .milliseconds(90)) == .milliseconds(90))
    #expect(pace.await(from: .milliseconds(190)) == .milliseconds(190), "one is for both, and too early for nobody")
    #expect(pace.await(from: .milliseconds(100)) == .milliseconds(190))
    #expect(asked(&pace, 0..<5) == [], "nothing has come out yet")
    pace.made(at: .zero)
    #expect(asked(&pace, 5..<9) == [5] && pace.awaited == nil)
    _ = pace.await(from: .milliseconds(450))
    #expect(asked(&pace, 9..<20) == [12])
  }

  /// All that is shown may have gone in before anything comes out: nothing more goes in that could have it asked for.
  @Test func whatAnEncoderCouldNotBeAskedForIsAskedForOnceItBegins() {
    var pace = KeyframePace()
    _ = pace.await(from: .seconds(1))
    #expect(asked(&pace, 0..<50) == [], "nothing has come out yet")
    let asks = [0, 1000, 1040].map { pace.made(at: .milliseconds($0)) }
    #expect(asks == [Duration.seconds(1), nil, nil] && pace.awaited == nil)
  }

  @Test func whatIsYetToGoInHasItAskedForByItself() {
    var pace = KeyframePace()
    _ = pace.await(from: .seconds(1))
    _ = asked(&pace, 0..<10)
    let asks = pace.made(at: .zero)
    #expect(asks == nil)
    #expect(asked(&pace, 10..<50) == [25])
  }

  /// x264enc of GStreamer 1.22, to which frames come only once all of them have gone in.
  @Test func aFrameThatWaitsForItsEncoderBecomesTheKeyframe() async throws {
    let factory = PipelineFactory(folder: nil)
    let text = try factory.template(.encode, "h264").text
    let slow = try Template(
      kind: .encode, name: "slow", file: "slow",
      text: text.replacing("! videoflip", with: "! identity sleep-time=20000 ! videoflip"))
    let values = ["width": "320", "height": "180", "gop": "1000", "frame-queue": "100"]
    let filled = try factory.fill(slow, values: values)
    let line = try FeedLine(.video, .encoded(filled), caps: nil, factory: factory) {}
    let keyframes = Collector<Duration>()
    line.add(
      FeedLine.Taker(
        id: ObjectIdentifier(line), keyframeInterval: nil, take: { if !$0.isDelta { keyframes.add($1.shown) } },
        fail: { Issue.record("\($0)") }))
    #expect(!line.requestKeyframe(), "it is too early")
    #expect(line.requestKeyframe(from: .seconds(1)) == Duration.seconds(1))
    let black = try #require(MediaBuffer.blackFrame(width: 320, height: 180))
    for number in 0..<50 { line.push(black, at: .milliseconds(40) * number) }
    await line.drain()
    await line.stop()
    let made = keyframes.values
    // Of a very slow machine a frame or some may be left out.
    #expect(made.count == 2 && made[0] == .zero && made[1] >= .seconds(1) && made[1] < .seconds(1.5), "\(made)")
  }

  @Test func aSenderIsAskedAMomentAhead() {
    var pace = KeyframePace(lead: .milliseconds(100))
    pace.interval = .milliseconds(400)
    pace.made(at: .zero)
    #expect(asked(&pace, 0..<8) == [7])
    pace.made(at: .milliseconds(320))
    #expect(asked(&pace, 8..<16) == [15], "and again when none comes: \(asked(&pace, 16..<24))")
  }

  /// Who stores a track as it is sent asks whoever sends it, and nobody while something stands in for it.
  @Test func whoSendsIsAsked() throws {
    let asked = Collector<Int>()
    let line = try FeedLine(.video, .asSent, caps: nil, factory: PipelineFactory(folder: nil)) { asked.add(0) }
    let taker = FeedLine.Taker(
      id: ObjectIdentifier(line), keyframeInterval: .seconds(1), take: { _, _ in }, fail: { _ in })
    line.add(taker)
    let caps = try #require(Caps("video/x-vp8"))
    func push(_ frames: Range<Int>, isStandIn: Bool = false) {
      for number in frames {
        let frame = [UInt8(0)].withUnsafeBytes {
          MediaBuffer(copying: $0, caps: caps, pts: nil, isDelta: number != 0)
        }
        line.push(frame, at: .milliseconds(40 * number), isStandIn: isStandIn)
      }
    }
    push(0..<15)
    #expect(asked.count == 0)
    push(15..<25)
    #expect(asked.count == 1)
    push(25..<200, isStandIn: true)
    #expect(asked.count == 1)
    push(200..<201)
    #expect(asked.count == 2)
  }

  @Test func whatTheEncoderMakesByItselfCounts() {
    var pace = KeyframePace()
    pace.interval = .milliseconds(400)
    _ = asked(&pace, 0..<8)
    pace.made(at: .milliseconds(200))
    #expect(asked(&pace, 8..<20) == [15])
  }
}
