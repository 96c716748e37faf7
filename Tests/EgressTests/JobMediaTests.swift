import BridgeTesting
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import Testing

@testable import Egress

/// The lines of a job.
@Suite struct JobMediaTests {
  /// A line of audio with the times of what comes on it.
  private func line(of media: JobMedia) throws -> (line: FeedLine, times: Collector<Duration>) {
    let (line, times) = (
      try FeedLine(.audio, .asSent, caps: nil, factory: PipelineFactory(folder: nil), onKeyframeNeeded: {}),
      Collector<Duration>()
    )
    line.add(
      FeedLine.Taker(
        id: ObjectIdentifier(line), keyframeInterval: nil, take: { times.add($1.shown) }, fail: { _ in }))
    let frames = FrameRepeater(asSent: nil, size: nil)
    let silence = AudioStandIn(isRaw: false)
    media.add { MediaLine(line, frames: frames, silence: silence?.block, before: $0) }
    return (line, times)
  }

  /// An hour of silence would be made for it at once.
  @Test func aLineThatIsMadeLateHasNoPast() throws {
    let media = JobMedia(beginsWithVideo: false, onKeyframeNeeded: {}, onBegin: {})
    let first = try line(of: media)
    let (start, silence) = (MediaTime.now, try #require(AudioStandIn(isRaw: false)))
    let block = silence.block.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: silence.caps, pts: start, duration: .milliseconds(20))
    }
    media.write(block, .audio, isRaw: false)
    media.advance(to: start + .seconds(60))
    let late = try line(of: media)
    media.advance(to: start + .seconds(62))
    #expect(first.times.count > 3000)
    #expect(late.times.values.first == .milliseconds(58_500) && late.times.count == 100)
    #expect(first.times.values.last == late.times.values.last)
  }
}
