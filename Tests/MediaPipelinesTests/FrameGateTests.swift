import MediaPipelines
import Testing

@Suite struct FrameGateTests {
  /// What becomes of frames, of which those in `keyframes` are some, for a consumer that is so full.
  private func verdicts(
    _ gate: inout FrameGate, _ frames: Range<Int>, keyframes: Set<Int>, fullness: (Int) -> Double = { _ in 0 }
  ) -> [FrameGate.Verdict] {
    frames.map { gate.offer(isKeyframe: keyframes.contains($0), fullness: fullness($0)) }
  }

  @Test func aConsumerBeginsWithAKeyframeThatIsAskedForOnce() {
    var gate = FrameGate()
    #expect(verdicts(&gate, 0..<5, keyframes: [3]) == [.dropAndAsk, .drop, .drop, .pass, .pass])
    // What came before it began is nothing that it lost.
    #expect(gate.dropped == 0)
  }

  @Test func oneThatIsFullLosesAllUpToAKeyframe() {
    var gate = FrameGate()
    let all = verdicts(&gate, 0..<10, keyframes: [0, 7]) { $0 == 3 ? 1 : 0 }
    #expect(all == [.pass, .pass, .pass, .drop, .dropAndAsk, .drop, .drop, .pass, .pass, .pass])
    #expect(gate.dropped == 4)
  }

  /// A keyframe that finds no room would be for nothing.
  @Test func nothingIsAskedForBeforeThereIsRoom() {
    var gate = FrameGate()
    let all = verdicts(&gate, 0..<10, keyframes: [0, 4, 8]) { $0 == 0 || $0 > 6 ? 0.5 : $0 > 4 ? 0.6 : 1 }
    #expect(all == [.pass, .drop, .drop, .drop, .drop, .drop, .drop, .dropAndAsk, .pass, .pass])
  }

  /// What waits may have become more while it was on its way.
  @Test func aKeyframeThatFoundNoRoomIsAskedForAgain() {
    var gate = FrameGate(isOpen: true)
    let all = verdicts(&gate, 0..<8, keyframes: [3, 7]) { [0, 1, 0.4, 0.6, 0.6, 0.5, 0.4, 0.4][$0] }
    #expect(all == [.pass, .drop, .dropAndAsk, .drop, .drop, .dropAndAsk, .drop, .pass])
  }

  @Test func whereEveryFrameIsAKeyframeOnlyTheOverflowGoes() {
    var gate = FrameGate()
    let all = verdicts(&gate, 0..<6, keyframes: Set(0..<6)) { [0, 0.9, 1, 0.8, 0.5, 0.9][$0] }
    #expect(all == [.pass, .pass, .drop, .drop, .pass, .pass])
    #expect(gate.dropped == 2)
  }
}
