import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What is missing in a file because it is not written as fast as it comes.
@Suite struct QueueLossTests {
  private func drop(_ steps: Range<Int>, of loss: inout QueueLoss, isStandIn: Bool = false) {
    for step in steps {
      loss.drop(lasting: .milliseconds(20), at: .milliseconds(20) * step, isStandIn: isStandIn)
    }
  }

  @Test func allThatWasDroppedAddsUp() {
    var loss = QueueLoss()
    loss.pass(at: .zero)
    #expect(loss.since == nil && loss.length == .zero && !loss.goesOn)
    drop(1..<51, of: &loss)
    #expect(loss.since == .milliseconds(20) && loss.length == .seconds(1) && loss.goesOn)
    loss.pass(at: .milliseconds(1020))
    drop(100..<101, of: &loss)
    loss.pass(at: .milliseconds(2020))
    #expect(loss.since == .milliseconds(20) && loss.length == .milliseconds(1020) && !loss.goesOn)
  }

  /// Frames do not say how long they last.
  @Test func aFrameLastsFromTheOneBefore() {
    var loss = QueueLoss()
    loss.pass(at: .seconds(1))
    for step in 1...10 { loss.drop(lasting: nil, at: .seconds(1) + .milliseconds(40) * step, isStandIn: false) }
    loss.pass(at: .milliseconds(1440))
    #expect(loss.since == .milliseconds(1040) && loss.length == .milliseconds(400))
  }

  /// Half a minute of silence comes at once after the process stood still.
  @Test func silenceThatFillsTheQueueIsNoLoss() {
    var loss = QueueLoss()
    drop(0..<1500, of: &loss, isStandIn: true)
    drop(1500..<1520, of: &loss)
    #expect(loss.since == nil && !loss.goesOn)
    loss.pass(at: .milliseconds(20) * 1520)
    #expect(loss.since == nil && loss.length == .zero)
  }

  /// Somebody who was muted when the disk went away speaks.
  @Test func whatIsSentBehindSilenceIsOneWhereThatGoesOn() {
    var loss = QueueLoss()
    drop(0..<50, of: &loss, isStandIn: true)
    drop(50..<125, of: &loss)
    #expect(loss.since == .seconds(1) && loss.length == .milliseconds(1500) && loss.goesOn)
  }

  @Test func aDestinationLacksWhatItsWorstInputDoes() {
    var (video, audio, voice) = (QueueLoss(), QueueLoss(), QueueLoss())
    drop(50..<100, of: &video)
    video.pass(at: .seconds(2))
    drop(40..<50, of: &audio)
    drop(60..<90, of: &voice)
    let loss = MediaLoss([(.video, video), (.audio, audio), (.audio, voice)], from: .milliseconds(300))
    #expect(loss?.since == .milliseconds(500) && loss?.goesOn == true)
    #expect(loss?.amount == "1.0 s of video and 0.6 s of audio")
    let words = loss?.lack.message ?? ""
    #expect(words.hasSuffix("; its disk, or what reads or encodes it, did not keep up"), "nobody knows which: \(words)")
    #expect(MediaLoss([(.audio, QueueLoss())], from: .zero) == nil)
  }

  // MARK: Files

  /// A disk that takes a block of audio every two seconds, in front of which four may wait: it has no room again before
  /// four seconds are over, for which a busy machine may hold up a test.
  private static let slow = """
    matroskamux name=mux ! filesink location=${location}
    appsrc name=audio max-buffers=4 max-bytes=0 leaky-type=downstream caps="CAPS"
    ! identity sleep-time=2000000 ! mux.audio_0
    """
  static let pcm = "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"

  private func slow(_ caps: String) throws -> TemporaryFolder {
    try TemporaryFolder(template: "output/slow", Self.slow.replacing("CAPS", with: caps))
  }

  private func add(in folder: TemporaryFolder, to job: Job) throws -> JobDestination {
    let factory = PipelineFactory(folder: folder.path)
    let destination = Destination(argument: "slow=\(folder.path)/a.mka")
    let planner = try OutputPlanner(destination, factory: factory)
    return try job.add(
      destination, planner: planner, plan: try planner.plan([.audio: TrackTraits(codec: "opus")]),
      video: Job.Video(), factory: factory)
  }

  @Test(arguments: ["audio/x-opus", pcm]) func whatADiskHasNoRoomForIsALack(_ caps: String) async throws {
    let folder = try slow(caps)
    let job = Job(beginsWithVideo: false, onKeyframeNeeded: {}, onChange: {})
    let output = try add(in: folder, to: job)
    let start = MediaTime.now - .seconds(3)
    let isRaw = job.wants(.audio, isRaw: true)
    let silence = try #require(AudioStandIn(isRaw: isRaw))
    for step in 0..<100 {
      let block = silence.block.withUnsafeBytes {
        MediaBuffer(
          copying: $0, caps: silence.caps, pts: start + .milliseconds(20) * step, duration: .milliseconds(20))
      }
      job.media.write(block, .audio, isRaw: isRaw)
    }
    let missing = try #require(output.missing)
    #expect(missing.audio > .seconds(1) && missing.video == .zero && missing.goesOn)
    #expect(output.failure == nil && output.framesLeftOut == 0, "it goes on, and the machine is not slow")
    let reasons = await job.finish(at: start + .seconds(2))
    let words = "\(folder.path)/a.mka: it could not be written as fast as it came"
    #expect(reasons.count == 1 && reasons[0]?.message.hasPrefix(words) == true)
    #expect(reasons[0]?.message.contains(" s of audio are missing, the first at ") == true)
    #expect(output.completedFiles == ["\(folder.path)/a.mka"], "what came besides is there")
  }

  /// Nobody has sent what stands in.
  @Test func silenceThatADiskHasNoRoomForIsNone() async throws {
    let folder = try slow("audio/x-opus")
    let job = Job(beginsWithVideo: false, onKeyframeNeeded: {}, onChange: {})
    let output = try add(in: folder, to: job)
    let start = MediaTime.now
    let silence = try #require(AudioStandIn(isRaw: false))
    let block = silence.block.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: silence.caps, pts: start, duration: .milliseconds(20))
    }
    job.media.write(block, .audio, isRaw: false)
    job.media.advance(to: start + .seconds(5))
    #expect(output.dropped(.audio) > 10 && output.missing == nil)
    #expect(await job.finish(at: start + .seconds(5)) == [nil])
  }
}
