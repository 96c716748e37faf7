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

  @Test func aSenderIsAskedAMomentAhead() {
    var pace = KeyframePace(lead: .milliseconds(100))
    pace.interval = .milliseconds(400)
    pace.made(at: .zero)
    #expect(asked(&pace, 0..<8) == [7])
    pace.made(at: .milliseconds(320))
    #expect(asked(&pace, 8..<16) == [15], "and again when none comes: \(asked(&pace, 16..<24))")
  }

  @Test func whatTheEncoderMakesByItselfCounts() {
    var pace = KeyframePace()
    pace.interval = .milliseconds(400)
    _ = asked(&pace, 0..<8)
    pace.made(at: .milliseconds(200))
    #expect(asked(&pace, 8..<20) == [15])
  }
}
