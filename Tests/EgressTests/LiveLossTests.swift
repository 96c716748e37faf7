import BridgeTesting
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What a live server does not take as fast as it comes.
@Suite struct LiveLossTests {
  /// A server that takes a frame every two seconds, in front of which four may wait: it has no room again before four
  /// seconds are over, for which a busy machine may hold up a test.
  private static let slow = """
    appsrc name=video max-buffers=4 max-bytes=0 leaky-type=downstream caps="video/x-vp8"
    ! identity sleep-time=2000000 ! fakesink sync=false
    """

  private func add(in folder: TemporaryFolder, to job: Job) throws -> JobDestination {
    let factory = PipelineFactory(folder: folder.path)
    let destination = Destination(argument: "slow=udp://127.0.0.1:9")
    let planner = try OutputPlanner(destination, factory: factory)
    return try job.add(
      destination, planner: planner, plan: try planner.plan([.video: TrackTraits(codec: "vp8")]),
      video: Job.Video(codec: "vp8", size: Dimensions(width: 320, height: 180)), factory: factory)
  }

  @Test func theMachineIsNotTooSlowAndTheStreamGoesOn() async throws {
    let folder = try TemporaryFolder(template: "output/slow", Self.slow)
    let job = Job(beginsWithVideo: true, onKeyframeNeeded: {}, onChange: {})
    let output = try add(in: folder, to: job)
    let caps = try #require(Caps("video/x-vp8,width=320,height=180"))
    let start = MediaTime.now - .seconds(4)
    for number in 0..<100 {
      let frame = [UInt8(0)].withUnsafeBytes {
        MediaBuffer(copying: $0, caps: caps, pts: start + .milliseconds(40) * number)
      }
      job.media.write(frame, .video, isRaw: false)
    }
    let missing = try #require(output.missing)
    #expect(missing.video > .seconds(1) && missing.audio == .zero && missing.goesOn)
    #expect(output.dropped(.video) > 25 && output.framesLeftOut == 0)
    output.abandon()
    #expect(await job.finish(at: start + .seconds(4)) == [nil])
    #expect(output.missing != nil, "it is told at the end, too")
  }

  /// A way that is too narrow has room again every half a minute.
  @Test func itIsOverOnceNothingWasDroppedForAWhile() {
    var loss = QueueLoss()
    func told() -> Bool? { MediaLoss([(.video, loss)], from: .zero, calm: .seconds(60))?.goesOn }
    loss.pass(at: .zero)
    #expect(told() == nil)
    for step in 1...10 { loss.drop(lasting: nil, at: .milliseconds(40) * step, isStandIn: false) }
    #expect(told() == true)
    loss.pass(at: .seconds(1))
    loss.pass(at: .seconds(60))
    #expect(told() == true && !loss.goesOn)
    loss.pass(at: .seconds(61))
    #expect(told() == false)
    loss.drop(lasting: nil, at: .seconds(62), isStandIn: false)
    #expect(told() == true)
  }
}
