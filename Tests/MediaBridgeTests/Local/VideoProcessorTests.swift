import BridgeTesting
import Dispatch
import MediaCore
import Testing

@testable import MediaBridge

/// A local track's frames on their way through a processor, without a room.
@Suite struct VideoProcessorTests {
  /// Makes frames of another width, of which the first row tells what they were.
  private final class Widening: VideoProcessor {
    let pauses = Locked(0)
    let broken = Locked<LiveKitError?>(nil)
    private let isSkipped: @Sendable (VideoFrame) -> Bool

    init(skipping isSkipped: @escaping @Sendable (VideoFrame) -> Bool = { _ in false }) { self.isSkipped = isSkipped }

    func process(frame: VideoFrame) -> VideoFrame? {
      if isSkipped(frame) || failure != nil { return nil }
      // A time of its own, which is not to be seen.
      return VideoFrame(i420: Frames.gray(width: 64), width: 64, height: 2)
    }
    func pause() async { pauses.withLock { $0 += 1 } }
    var failure: LiveKitError? { broken.withLock { $0 } }
  }

  /// Frames by hand, and what has become of them.
  private struct Frames: Sendable {
    let track = LocalVideoTrack.createBufferTrack()
    let seen = Collector<(width: Int32, time: MediaTime)>()
    let ends = Collector<String>()
    private let owner = Owner()
    private final class Owner: Sendable {}

    static func gray(width: Int) -> [UInt8] { [UInt8](repeating: 128, count: width * 2 * 3 / 2) }

    init() async throws {
      let (seen, ends) = (seen, ends)
      track.media.add(owner) { captured in
        if let frame = VideoFrame(captured) { seen.add((frame.dimensions.width, captured.time)) }
      }
      track.media.onEnd { ends.add($0?.message ?? "") }
      try await track.start()
    }

    /// A frame that is taken `time` ms after the clock's beginning.
    func give(_ time: Int64) throws {
      let frame = VideoFrame(
        i420: Self.gray(width: 16), width: 16, height: 2, time: MediaTime(nanoseconds: time * 1_000_000))
      track.capturer?.capture(try #require(frame))
    }

    var widths: [Int32] { seen.values.map(\.width) }
    var times: [Int64] { seen.values.map { $0.time.nanoseconds / 1_000_000 } }
  }

  @Test func framesAreChangedWhileItIsSetAndKeepTheirTimes() async throws {
    let (frames, processor) = (try await Frames(), Widening { $0.time.nanoseconds == 3_000_000 })
    try frames.give(1)
    frames.track.processor = processor
    for time in [2, 3, 4] as [Int64] {
      try frames.give(time)
      try await Task.sleep(for: .milliseconds(5))
    }
    try await eventually("the frames") { frames.seen.count == 3 }
    frames.track.processor = nil
    try frames.give(5)
    try await eventually("the last") { frames.seen.count == 4 }
    #expect(frames.widths == [16, 64, 64, 16] && frames.times == [1, 2, 4, 5])
    try await eventually("its end") { processor.pauses.withLock { $0 } == 1 }
    #expect(frames.track.framesNotProcessed == 0 && frames.track.processor == nil)
  }

  @Test func aMutedTrackLetsGoOfWhatItsProcessorHolds() async throws {
    let (frames, processor) = (try await Frames(), Widening())
    frames.track.processor = processor
    try frames.give(1)
    try await frames.track.mute()
    #expect(processor.pauses.withLock { $0 } == 1)
    try frames.give(2)
    try await frames.track.unmute()
    try frames.give(3)
    try await eventually("the third") { frames.times.last == 3 }
    try await frames.track.stop()
    #expect(processor.pauses.withLock { $0 } == 2 && !frames.times.contains(2) && !frames.widths.contains(16))
  }

  @Test func captureDoesNotWaitForASlowOneAndTheOldestFrameGoes() async throws {
    let held = DispatchSemaphore(value: 0)
    let (frames, begun) = (try await Frames(), Collector<MediaTime>())
    frames.track.processor = Widening { frame in
      begun.add(frame.time)
      held.wait()
      return false
    }
    try frames.give(1)
    try await eventually("the first") { begun.count == 1 }
    for time in 2...5 as ClosedRange<Int64> {
      try frames.give(time)
      try await Task.sleep(for: .milliseconds(110))
    }
    #expect(frames.track.framesNotProcessed == 2)
    for _ in 0..<3 { held.signal() }
    try await eventually("the rest") { frames.times == [1, 4, 5] }
  }

  @Test func whatHasFailedIsToldOnceAndNothingIsSeen() async throws {
    let (frames, processor) = (try await Frames(), Widening())
    processor.broken.withLock { $0 = LiveKitError(.pipeline, "broken") }
    frames.track.processor = VideoProcessorChain([Widening(), processor])
    for time in 1...3 as ClosedRange<Int64> {
      try frames.give(time)
      try await Task.sleep(for: .milliseconds(5))
    }
    try await eventually("the word of it") { frames.ends.values == ["broken"] }
    processor.broken.withLock { $0 = nil }
    try frames.give(4)
    try await eventually("what comes after it") { frames.times == [4] }
    #expect(frames.ends.count == 1)
  }
}
