import BridgeTesting
import GStreamerKit
import MediaCore
import MediaPipelines
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
